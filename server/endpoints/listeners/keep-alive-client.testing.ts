import { connect, type Socket } from 'node:net'

/** Where a client connects to. */
export type Where = { readonly port: number; readonly host?: string } | { readonly path: string }

/** An answer, as far as a {@link KeepAliveClient} looks at it. */
export interface ClientAnswer {
  readonly status: number
  /** Whether it told the client that the connection ends (RFC 9112 §9.6). */
  readonly close: boolean
  readonly body: string
}

/** How a connection ended: whether the server broke a promise. */
export type Ending =
  /** After an answer that said so. */
  | 'told'
  /** With no request under way: the server may do so at any time (RFC 9112 §9.5). */
  | 'between'
  /** With a request sent, in whole or in part, and not answered in whole. */
  | 'reset'
  /** By the client itself. */
  | 'left'

/** A connection ended while a request was under way on it. */
export class Reset extends Error {
  override readonly name = 'Reset'
}

/** A whole request without a body. */
const get = (path: string) => `GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`

/**
 * One HTTP/1.1 connection, never replaced by another, that knows of each request whether it was
 * answered, and of its end what was under way. Understands answers with a Content-Length.
 */
export class KeepAliveClient {
  readonly socket: Socket
  /** How many requests were answered in whole. */
  answered = 0
  /** When the last answer was read, as `performance.now()` counts. */
  lastAnswer = Number.NaN
  /** When the connection ended; likewise. */
  endedAt = Number.NaN
  /** Set once it has ended. */
  ending: Ending | undefined
  /** Resolves when it has. */
  readonly ended: Promise<Ending>
  #received = ''
  #waiting: { resolve: (answer: ClientAnswer) => void; reject: (error: Error) => void } | undefined
  #sentPart = false
  #told = false
  #left = false

  private constructor(socket: Socket) {
    this.socket = socket
    socket.setEncoding('latin1')
    socket.setNoDelay(true)
    socket.on('data', (part: string) => this.#read(part))
    // What an error says, the end says too.
    socket.on('error', () => {})
    socket.on('end', () => socket.destroy())
    this.ended = new Promise((resolve) => {
      socket.once('close', () => {
        this.endedAt = performance.now()
        const underWay = this.#waiting !== undefined || this.#sentPart
        this.ending = this.#left ? 'left' : this.#told ? 'told' : underWay ? 'reset' : 'between'
        this.#waiting?.reject(new Reset('the connection ended before the answer'))
        this.#waiting = undefined
        resolve(this.ending)
      })
    })
  }

  /** Connects; rejects with the system's error. */
  static open(where: Where): Promise<KeepAliveClient> {
    return new Promise((resolve, reject) => {
      const socket = connect('path' in where ? where : { host: '127.0.0.1', ...where })
      socket.once('error', reject)
      socket.once('connect', () => {
        socket.off('error', reject)
        resolve(new KeepAliveClient(socket))
      })
    })
  }

  /** Sends a request, or the rest of one, and waits for its answer; one at a time. */
  ask(request: string = get('/_api/health')): Promise<ClientAnswer> {
    if (this.#waiting !== undefined) throw new Error('a request is under way here')
    return new Promise((resolve, reject) => {
      if (this.ending !== undefined || this.socket.destroyed) {
        reject(new Reset('the connection had ended'))
        return
      }
      this.#waiting = { resolve, reject }
      this.socket.write(request)
    })
  }

  /** Sends a part of a request, which is under way from then on; {@link ask} sends the rest. */
  sendPart(part: string): Promise<void> {
    this.#sentPart = true
    return new Promise((resolve) => this.socket.write(part, () => resolve()))
  }

  /**
   * Asks again as soon as it is answered, until it is told to close, or is reset, or `until` says
   * so. Whatever comes of it is in {@link ending}; a status other than 200 is thrown.
   */
  async keepBusy({
    path = '/_api/health',
    until = () => false,
  }: {
    readonly path?: string
    readonly until?: () => boolean
  } = {}): Promise<void> {
    const request = get(path)
    while (!until()) {
      const answer = await this.ask(request).catch((error: unknown) => {
        if (error instanceof Reset) return undefined
        throw error
      })
      if (answer !== undefined && answer.status !== 200) {
        throw new Error(`answered ${answer.status}: ${answer.body}`)
      }
      if (answer === undefined || answer.close) {
        await this.ended
        return
      }
    }
  }

  /** Ends the connection from this side. */
  leave(): void {
    this.#left = true
    this.socket.destroy()
  }

  #read(part: string): void {
    this.#received += part
    const end = this.#received.indexOf('\r\n\r\n')
    if (end === -1) return
    const head = this.#received.slice(0, end)
    const length = Number(/^content-length: *([0-9]+)$/im.exec(head)?.[1])
    if (Number.isNaN(length)) throw new Error(`an answer without Content-Length:\n${head}`)
    const whole = end + 4 + length
    if (this.#received.length < whole) return
    const body = this.#received.slice(end + 4, whole)
    this.#received = this.#received.slice(whole)
    this.answered++
    this.lastAnswer = performance.now()
    this.#told = /^connection: *close$/im.test(head)
    this.#sentPart = false
    const waiting = this.#waiting
    this.#waiting = undefined
    waiting?.resolve({ status: Number(head.slice(9, 12)), close: this.#told, body })
  }
}

/** Opens `count` connections to one place. */
export const openClients = (count: number, where: Where): Promise<KeepAliveClient[]> =>
  Promise.all(Array.from({ length: count }, () => KeepAliveClient.open(where)))
