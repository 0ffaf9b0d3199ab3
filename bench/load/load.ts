import { connect, type Socket } from 'node:net'
import { collectGarbage } from '../../server/test-support/collect-garbage.testing.ts'

/** Size of the buffer of a connection, bytes; that of Node.js by default. */
const READ_SIZE = 64 * 1024

/** Connections that repeat the same requests. */
export interface Load {
  /**
   * Sends requests for `duration` ms. Returns the number of responses and the actual duration, ms.
   */
  run(duration: number): Promise<{
    readonly answers: number
    readonly time: number
    /** The time of each response, ms; empty unless the load is `timed`. */
    readonly times: readonly number[]
  }>
  close(): void
}

/**
 * Opens keep-alive connections, and waits for a response on each. Each sends the next request when
 * the last response is complete. To measure mainly the server, only the first response is parsed; all
 * others must begin like it and have the same length. Each connection reads into one buffer, and
 * garbage is collected before each run: otherwise, garbage collections of this process would delay
 * all responses by 5 to 25 ms.
 *
 * @param requests the requests to send in turn, already serialized.
 * @param timed whether to measure each response, which costs the client a little.
 * @throws if the status of a first response is neither 200 nor 201.
 */
export async function openLoad(
  { host, port }: { host: string; port: number },
  requests: string | readonly string[],
  connections: number,
  timed = false,
): Promise<Load> {
  const heads = [requests].flat().map((request) => Buffer.from(request, 'latin1'))
  let next = 0
  const all = await Promise.all(
    Array.from({ length: connections }, () => Connection.open(host, port)),
  )
  // Node.js accepts one connection in each turn of its event loop. On a busy server, the last of them
  // would wait for most of a short run.
  const [first] = await Promise.all(
    all.map((connection) => readOne(connection, heads[0] as Buffer)),
  )
  if (first === undefined) throw new Error('no connections')
  const { length, status } = first

  let isRunning = false
  let answers = 0
  let times: number[] = []
  let busy = 0
  let idle = () => {}
  let fail = (_: Error) => {}
  const begin: (() => void)[] = []
  for (const connection of all) {
    const { socket } = connection
    let received = 0
    let sent = 0
    let isWaiting = false
    const send = () => {
      isWaiting = true
      if (socket.destroyed) fail(new Error('the server closed a connection'))
      if (timed) sent = performance.now()
      socket.write(heads[next++ % heads.length] as Buffer)
    }
    begin.push(send)
    connection.receive = (size, buffer) => {
      if (received === 0) {
        const start = buffer.toString('latin1', 0, Math.min(size, status.length))
        if (start !== status) fail(new Error(`a response begins with ${start}`))
      }
      received += size
      if (received < length) return
      if (received > length) fail(new Error('a response is longer than the first one'))
      received = 0
      isWaiting = false
      answers++
      if (timed) times.push(performance.now() - sent)
      if (isRunning) send()
      else if (--busy === 0) idle()
    }
    // A slow server closes connections that wait for the last responses on others.
    socket.on('close', () => isWaiting && fail(new Error('the server closed a connection')))
    socket.on('error', (error) => fail(error))
  }

  return {
    async run(duration) {
      collectGarbage()
      const begun = performance.now()
      isRunning = true
      answers = 0
      times = []
      const done = new Promise<void>((resolve, reject) => {
        idle = resolve
        fail = reject
      })
      busy = all.length
      for (const send of begin) send()
      const timer = setTimeout(() => {
        isRunning = false
      }, duration)
      try {
        await done
      } finally {
        clearTimeout(timer)
      }
      return { answers, time: performance.now() - begun, times }
    },
    close() {
      fail = () => {}
      for (const { socket } of all) socket.destroy()
    },
  }
}

/** A connection that reads into one buffer. */
class Connection {
  readonly socket: Socket
  /** Receives the first `size` bytes of the buffer, which the next read overwrites. */
  receive: (size: number, buffer: Buffer) => void = () => {}

  private constructor(host: string, port: number) {
    const buffer = Buffer.allocUnsafeSlow(READ_SIZE)
    const callback = (size: number) => {
      this.receive(size, buffer)
      return true
    }
    this.socket = connect({ host, port, noDelay: true, onread: { buffer, callback } })
  }

  static open(host: string, port: number): Promise<Connection> {
    return new Promise((resolve, reject) => {
      const connection = new Connection(host, port)
      connection.socket.once('error', reject)
      connection.socket.once('connect', () => {
        connection.socket.off('error', reject)
        resolve(connection)
      })
    })
  }
}

/** Sends one request and reads the whole response, which must have a `Content-Length`. */
function readOne(
  connection: Connection,
  request: Buffer,
): Promise<{ readonly length: number; readonly status: string }> {
  return new Promise((resolve, reject) => {
    let text = ''
    connection.receive = (size, buffer) => {
      text += buffer.toString('latin1', 0, size)
      const end = text.indexOf('\r\n\r\n')
      if (end === -1) return
      const body = Number(/^content-length: ([0-9]+)/im.exec(text.slice(0, end))?.[1])
      const length = end + 4 + body
      if (text.length < length) return
      const status = text.slice(0, 'HTTP/1.1 200'.length)
      const isOk = status === 'HTTP/1.1 200' || status === 'HTTP/1.1 201'
      if (isOk && text.length === length) resolve({ length, status })
      else reject(new Error(`the first response was:\n${text}`))
    }
    connection.socket.write(request)
  })
}
