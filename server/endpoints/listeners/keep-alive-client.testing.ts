import { connect, type Socket } from 'node:net'

export type SocketAddress =
  | { readonly port: number; readonly host?: string }
  | { readonly path: string }

/** The parts of a response that {@link KeepAliveClient} reads. */
export interface ClientResponse {
  readonly status: number
  /** Whether it announced the close of the connection (RFC 9112 §9.6). */
  readonly close: boolean
  readonly body: string
}

/** How a connection ended. */
export type Ending =
  /** After a response with `Connection: close`. */
  | 'told'
  /** Without a request in progress, which the server may do at any time (RFC 9112 §9.5). */
  | 'between'
  /** With a request sent, entirely or in part, and its response incomplete. */
  | 'reset'
  /** Closed by the client. */
  | 'left'

/** The connection closed while a request was in progress. */
export class Reset extends Error {
  override readonly name = 'Reset'
}

/** Returns a request without a body. */
const get = (path: string) => `GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`

/**
 * A client with one HTTP/1.1 connection that never reconnects. It records which requests were
 * answered and how the connection ended. Responses must have a Content-Length.
 */
export class KeepAliveClient {
  readonly socket: Socket
  /** Number of complete responses. */
  answered = 0
  /** When the connection closed, by `performance.now()`. */
  endedAt = Number.NaN
  /** Set once the connection has closed. */
  ending: Ending | undefined
  /** Resolves once the connection has closed. */
  readonly ended: Promise<Ending>
  #received = ''
  #waiting:
    | { resolve: (answer: ClientResponse) => void; reject: (error: Error) => void }
    | undefined
  #sentPart = false
  #toldToClose = false
  #left = false

  private constructor(socket: Socket) {
    this.socket = socket
    socket.setEncoding('latin1')
    socket.setNoDelay(true)
    socket.on('data', (part: string) => this.#read(part))
    // The close handler reports errors.
    socket.on('error', () => {})
    socket.on('end', () => socket.destroy())
    this.ended = new Promise((resolve) => {
      socket.once('close', () => {
        this.endedAt = performance.now()
        const isWaiting = this.#waiting !== undefined || this.#sentPart
        this.ending = this.#left
          ? 'left'
          : this.#toldToClose
            ? 'told'
            : isWaiting
              ? 'reset'
              : 'between'
        this.#waiting?.reject(new Reset('the connection closed before the response'))
        this.#waiting = undefined
        resolve(this.ending)
      })
    })
  }

  /** Connects; rejects with the system's error. */
  static open(where: SocketAddress): Promise<KeepAliveClient> {
    return new Promise((resolve, reject) => {
      const socket = connect('path' in where ? where : { host: '127.0.0.1', ...where })
      socket.once('error', reject)
      socket.once('connect', () => {
        socket.off('error', reject)
        resolve(new KeepAliveClient(socket))
      })
    })
  }

  /** Sends a request, or the rest of one, and waits for its response. One request at a time. */
  request(request: string = get('/_api/health')): Promise<ClientResponse> {
    if (this.#waiting !== undefined) throw new Error('a request is already in progress')
    return new Promise((resolve, reject) => {
      if (this.ending !== undefined || this.socket.destroyed) {
        reject(new Reset('the connection is closed'))
        return
      }
      this.#waiting = { resolve, reject }
      this.socket.write(request)
    })
  }

  /** Sends a part of a request, which is then in progress; {@link request} sends the rest. */
  sendPart(part: string): Promise<void> {
    this.#sentPart = true
    return new Promise((resolve) => this.socket.write(part, () => resolve()))
  }

  /**
   * Sends requests back to back until a response announces the close, the connection is reset, or
   * `until` returns true. {@link ending} has the result.
   *
   * @throws Error for a status other than 200.
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
      const response = await this.request(request).catch((error: unknown) => {
        if (error instanceof Reset) return undefined
        throw error
      })
      if (response !== undefined && response.status !== 200) {
        throw new Error(`answered ${response.status}: ${response.body}`)
      }
      if (response === undefined || response.close) {
        await this.ended
        return
      }
    }
  }

  /** Closes the connection. */
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
    if (Number.isNaN(length)) throw new Error(`a response without Content-Length:\n${head}`)
    const whole = end + 4 + length
    if (this.#received.length < whole) return
    const body = this.#received.slice(end + 4, whole)
    this.#received = this.#received.slice(whole)
    this.answered++
    this.#toldToClose = /^connection: *close$/im.test(head)
    this.#sentPart = false
    const waiting = this.#waiting
    this.#waiting = undefined
    waiting?.resolve({ status: Number(head.slice(9, 12)), close: this.#toldToClose, body })
  }
}

/** Opens `count` connections to one server. */
export const openClients = (count: number, where: SocketAddress): Promise<KeepAliveClient[]> =>
  Promise.all(Array.from({ length: count }, () => KeepAliveClient.open(where)))
