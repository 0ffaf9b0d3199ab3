import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

/** A way to a server that a test can break. */
export interface TcpProxy {
  readonly port: number
  /** How many connections go through it. */
  readonly connections: number
  /** Cuts every connection, as when a machine in between is started anew. */
  cut(): void
  /** From now on nothing passes, and nothing is said: packets vanish. New ones are taken in all the same. */
  swallow(): void
  /** What was taken in while it swallowed is gone; new connections pass again. */
  heal(): void
  /** From now on a round trip takes so many ms more, except that of TCP's own handshake. */
  delay(roundTrip: number): void
  /**
   * Once the server answers something that a client sent with these bytes in it, the answer is kept
   * back and the connection is cut, or goes on in silence.
   */
  loseAnswerTo(bytes: string, how?: 'cut' | 'silence'): Promise<void>
  /**
   * Cuts every connection once that many queries have been sent from now on: the last of them
   * arrives, and its answer is lost. Returns whether that has happened.
   */
  cutAfterQueries(count: number): () => boolean
  /** Stops what clients send with these bytes in it, and cuts the connection: it never arrives. */
  loseRequest(bytes: string): Promise<void>
  close(): Promise<void>
}

/** What is to happen to the next message with these bytes. */
interface Trap {
  readonly bytes: string
  readonly kind: 'cut' | 'silence' | 'request'
  readonly sprung: () => void
}

/** Starts a {@link TcpProxy} on the loopback, in front of a port there. */
export async function startTcpProxy(target: number): Promise<TcpProxy> {
  const pairs = new Set<readonly [Socket, Socket]>()
  let swallowing = false
  let roundTrip = 0
  let trap: Trap | undefined
  let queriesLeft = Infinity
  const server = createServer((client) => {
    const upstream = connect(target, '127.0.0.1')
    const pair = [client, upstream] as const
    pairs.add(pair)
    let lost = swallowing
    let losing: Trap | undefined
    const later = (ms: number, write: () => void) => (ms === 0 ? write() : setTimeout(write, ms))
    const cut = () => {
      for (const socket of pair) socket.destroy()
      pairs.delete(pair)
    }
    client.on('data', (bytes) => {
      lost ||= swallowing
      if (lost) return
      if (trap !== undefined && bytes.includes(trap.bytes)) {
        losing = trap
        trap = undefined
        if (losing.kind === 'request') {
          losing.sprung()
          return cut()
        }
      }
      if (isQuery(bytes) && --queriesLeft === 0) return upstream.write(bytes, () => proxy.cut())
      later(roundTrip / 2, () => upstream.write(bytes))
    })
    upstream.on('data', (bytes) => {
      lost ||= swallowing
      if (losing !== undefined) {
        losing.sprung()
        if (losing.kind === 'cut') return cut()
        lost = true
      }
      if (!lost) later(roundTrip / 2, () => client.write(bytes))
    })
    for (const socket of pair) {
      socket.on('error', () => {})
      // Whoever vanished does not say that it goes.
      socket.on('close', () => (lost ? undefined : cut()))
    }
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const set = (bytes: string, kind: Trap['kind']) =>
    new Promise<void>((sprung) => {
      trap = { bytes, kind, sprung }
    })
  const proxy: TcpProxy = {
    port: (server.address() as AddressInfo).port,
    get connections() {
      return pairs.size
    },
    cut() {
      for (const pair of [...pairs]) for (const socket of pair) socket.destroy()
      pairs.clear()
    },
    swallow() {
      swallowing = true
    },
    heal() {
      swallowing = false
    },
    cutAfterQueries(count) {
      queriesLeft = count
      return () => queriesLeft <= 0
    },
    delay(ms) {
      roundTrip = ms
    },
    loseAnswerTo: (bytes, how = 'cut') => set(bytes, how),
    loseRequest: (bytes) => set(bytes, 'request'),
    async close() {
      proxy.cut()
      server.close()
      await once(server, 'close')
    },
  }
  return proxy
}

/** Whether a client sends a query: the message Query or Parse of PostgreSQL's protocol. */
const isQuery = (bytes: Buffer | string): boolean =>
  Buffer.isBuffer(bytes) && (bytes[0] === 0x51 || bytes[0] === 0x50)
