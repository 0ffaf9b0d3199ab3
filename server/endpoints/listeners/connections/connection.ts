import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { PAGE_BYTES } from '../../../contract/document.ts'
import { Failure } from '../../../failure.ts'
import type { CountedResponse, Holder, ResponseAccount, ResponseBudget } from './response-budget.ts'

/** How long a connection must be idle before a drain closes it, ms. */
export const IDLE_BEFORE_CLOSE = 1000

/**
 * Number of queued requests of a connection at which the server stops reading from it. Node.js has
 * read up to 64 KiB by then, and still parses the requests in them.
 */
const MAX_WAITING = 100

/** Maximum number of safe requests that are processed concurrently on one connection. */
const MAX_READS = 10

/** Bytes of unsent responses above which no further request of the connection is started. */
const CONNECTION_UNSENT = 1024 * 1024

/** Maximum size of the responses that a connection prepares at once, bytes: one full page. */
const CONNECTION_PREPARED = PAGE_BYTES

/**
 * Number of checks after which a connection is closed whose malformed request has its response.
 * Closed earlier, while its client still sends, the system could discard the response.
 */
const LINGER_CHECKS = 2

/** Estimated memory of a queued request, bytes: its objects and headers. */
const WAITING_BYTES = 8 * 1024

/** A request queued behind earlier ones on its connection. */
interface Waiting {
  readonly safe: boolean
  readonly respond: () => void
}

/** A response that waits until its connection may prepare it. */
interface WaitingForRoom {
  readonly response: CountedResponse
  readonly bytes: number
  readonly resolve: () => void
  readonly reject: (error: unknown) => void
}

/**
 * One accepted connection of a listener.
 *
 * Clients may pipeline requests. Safe requests run concurrently; any other request waits for all
 * requests before it, and all requests after it wait for it (RFC 9112 §9.3.2), so that a read after
 * a write sees the write.
 *
 * The connection counts the bytes of responses that are being prepared or that its client has not
 * read. Above a limit, its next requests wait. A drain uses the connection's idle time.
 */
export class Connection implements ResponseAccount, Holder {
  readonly socket: Socket
  readonly #budget: ResponseBudget
  /** Begun responses in the order of their requests. Only the first one has the socket. */
  readonly #responses = new Set<CountedResponse>()
  #idleSince = performance.now()
  #readWhenIdle: number
  #reads = 0
  #changes = 0
  readonly #waiting: Waiting[] = []
  /** Bytes of responses that are being prepared or that the client has not read. */
  #unsent = 0
  #progressedAt = 0
  readonly #waitingForRoom: WaitingForRoom[] = []
  /** The response to a malformed request. */
  #rejection: string | undefined
  #closed = false
  #written = Number.NaN
  #checksWithoutProgress = 0
  #checksAfterRejection = 0

  constructor(socket: Socket, budget: ResponseBudget) {
    this.socket = socket
    this.#budget = budget
    this.#readWhenIdle = socket.bytesRead
    socket.once('close', () => this.#close())
  }

  /**
   * Called once the head of a request is read. With `last`, the response announces the close of the
   * connection.
   */
  begin(response: CountedResponse, last: boolean): void {
    response.countIn(this)
    this.#responses.add(response)
    // Node.js drops what arrives together with the end of a request for another protocol. Responses
    // to later requests would seem to be those to the dropped ones.
    const dropsNext = response.req.headers.upgrade !== undefined && !this.#hasOnly(response.req)
    if (last || dropsNext) this.announceClose()
  }

  /**
   * Returns whether the client has sent nothing but a request without a body since the connection
   * was idle. Java's `HttpClient` asks for HTTP/2 in every request, and keeps its connection.
   */
  #hasOnly({ method, url, rawHeaders, headers }: IncomingMessage): boolean {
    const lines = rawHeaders.map((text, at) => (at % 2 === 0 ? `${text}: ` : `${text}\r\n`))
    const head = `${method} ${url} HTTP/1.1\r\n${lines.join('')}\r\n`
    return (
      !this.isPipelining &&
      (headers['content-length'] ?? '0') === '0' &&
      headers['transfer-encoding'] === undefined &&
      this.socket.bytesRead - this.#readWhenIdle === head.length
    )
  }

  /**
   * Called when the response is written or the connection is closed. `now` is by
   * `performance.now()`.
   */
  end(response: CountedResponse, now: number): void {
    response.releaseAll()
    this.#responses.delete(response)
    this.#rejectAfterResponses()
    // With pipelining, the next request may begin before the close event of this response.
    if (this.#responses.size > 0) return
    this.#idleSince = now
    this.#readWhenIdle = this.socket.bytesRead
  }

  /** Whether a request has no complete response. */
  get isResponding(): boolean {
    return this.#responses.size > 0
  }

  get isPipelining(): boolean {
    return this.#responses.size > 1
  }

  /** Calls `respond` when the request may run. `safe`: a safe method (RFC 9110 §9.2.1). */
  enter(safe: boolean, respond: () => void): void {
    if (this.#waiting.length === 0 && this.#mayStart(safe)) this.#start(safe, respond)
    else this.#wait({ safe, respond })
  }

  /**
   * Stops reading at the limit of queued requests. Called when the socket is resumed, too, because
   * Node.js resumes it at the end of each request and when the client has read responses.
   */
  pauseIfFull(): void {
    if (this.#waiting.length >= MAX_WAITING) this.socket.pause()
  }

  /** Called when a started request has its response. Starts queued requests. */
  leave(safe: boolean): void {
    if (safe) this.#reads--
    else this.#changes--
    // The client has disconnected, or a response has announced the close of the connection.
    if (!this.socket.writable) return
    this.#reserveForWaiting()
    for (;;) {
      const [next] = this.#waiting
      if (next === undefined || !this.#mayStart(next.safe)) return
      this.#waiting.shift()
      this.#budget.release(this, WAITING_BYTES)
      if (this.#waiting.length === MAX_WAITING - 1) this.socket.resume()
      this.#start(next.safe, next.respond)
    }
  }

  /**
   * Called when a malformed request is received. Sends its response after those to the requests
   * before it, and ends the connection. A later {@link check} closes it if the client does not.
   */
  reject(response: string): void {
    this.#rejection = response
    this.#rejectAfterResponses()
  }

  /** Whether a malformed request was received. */
  get isRejected(): boolean {
    return this.#rejection !== undefined
  }

  /**
   * Reserves bytes for a response before it is prepared, replacing its earlier reservation. Waits
   * while the connection prepares too much; the response to be sent next never waits. Returns a
   * promise only if it waits.
   *
   * @throws Failure `unavailable` if the node holds too much or the client has disconnected.
   */
  reserve(response: CountedResponse, bytes: number): Promise<void> | undefined {
    if (this.#closed) throw clientDisconnected()
    if (this.#tryToReserve(response, bytes)) return undefined
    return new Promise<void>((resolve, reject) => {
      this.#waitingForRoom.push({ response, bytes, resolve, reject })
    })
  }

  hold(bytes: number): void {
    if (this.#closed || bytes === 0) return
    if (this.held === 0) this.#progressedAt = performance.now()
    this.#unsent += bytes
    this.#budget.hold(this, bytes)
  }

  release(bytes: number): void {
    if (this.#closed || bytes === 0) return
    this.#progressedAt = performance.now()
    this.#unsent -= bytes
    this.#budget.release(this, bytes)
  }

  /** The bytes that the connection holds in its budget. */
  get held(): number {
    return this.#unsent + this.#waiting.length * WAITING_BYTES
  }

  get progressedAt(): number {
    return this.#progressedAt
  }

  get isUnread(): boolean {
    return this.socket.writableLength > 0
  }

  /** Closes the connection, whose client does not read its responses. */
  drop(): void {
    this.socket.destroy()
    this.#close()
  }

  /** Sets `Connection: close` on the last response, if its head is not yet written. */
  announceClose(): void {
    const last = [...this.#responses].at(-1)
    if (last !== undefined && !last.headersSent) last.shouldKeepAlive = false
  }

  /** Whether no request has been in progress for {@link IDLE_BEFORE_CLOSE}. */
  isIdle(now: number): boolean {
    return (
      this.#responses.size === 0 &&
      now - this.#idleSince >= IDLE_BEFORE_CLOSE &&
      // Further bytes mean that the head of a request is being received.
      this.socket.bytesRead === this.#readWhenIdle
    )
  }

  /**
   * Closes the connection if its client has not read the bytes that wait to be sent for
   * `maxStalled` checks, or has not closed it after a malformed request. Called about once a
   * second. It counts checks instead of time so that a suspended process does not close connections
   * when it resumes.
   */
  check(maxStalled: number): void {
    if (this.isRejected && this.socket.writableFinished) this.#checksAfterRejection++
    const hasLingered = this.#checksAfterRejection >= LINGER_CHECKS
    if (hasLingered || this.#countWithoutProgress() >= maxStalled) this.socket.destroy()
  }

  /** Returns the number of consecutive checks in which the client has read nothing. */
  #countWithoutProgress(): number {
    const written = bytesSent(this.socket)
    if (this.socket.writableLength === 0 || written !== this.#written)
      this.#checksWithoutProgress = 0
    else this.#checksWithoutProgress++
    this.#written = written
    return this.#checksWithoutProgress
  }

  #mayStart(safe: boolean): boolean {
    if (this.#unsent >= CONNECTION_UNSENT) return false
    return this.#changes === 0 && this.#reads < (safe ? MAX_READS : 1)
  }

  #start(safe: boolean, respond: () => void): void {
    if (safe) this.#reads++
    else this.#changes++
    respond()
  }

  #rejectAfterResponses(): void {
    if (this.#rejection === undefined || !this.socket.writable) return
    // A malformed body leaves its request incomplete: the rejection is the response to it.
    for (const { req, headersSent } of this.#responses) if (req.complete || headersSent) return
    this.socket.end(this.#rejection)
  }

  #wait(request: Waiting): void {
    if (this.#closed) return
    this.#waiting.push(request)
    this.#budget.hold(this, WAITING_BYTES)
    this.pauseIfFull()
  }

  /** Returns false if the connection may not prepare the response yet. */
  #tryToReserve(response: CountedResponse, bytes: number): boolean {
    const more = bytes - response.reserved
    // Only the response to be sent next has the socket.
    if (response.socket === null && this.#unsent + more > CONNECTION_PREPARED) return false
    this.#budget.requireAvailable(more, response.isAdministration)
    response.reserve(bytes)
    return true
  }

  #reserveForWaiting(): void {
    for (const waiting of [...this.#waitingForRoom]) {
      try {
        if (!this.#tryToReserve(waiting.response, waiting.bytes)) return
        waiting.resolve()
      } catch (error) {
        waiting.reject(error)
      }
      this.#waitingForRoom.shift()
    }
  }

  #close(): void {
    if (this.#closed) return
    this.#closed = true
    const { held } = this
    this.#unsent = 0
    this.#waiting.length = 0
    this.#budget.release(this, held)
    for (const { reject } of this.#waitingForRoom.splice(0)) reject(clientDisconnected())
    for (const response of this.#responses) if (response.socket === null) closeQueued(response)
  }
}

/**
 * Returns the bytes passed to the system for sending. Node's `bytesWritten` includes those
 * that are still buffered, and drops by them when the socket closes.
 */
export const bytesSent = ({ bytesWritten, writableLength }: Socket): number =>
  bytesWritten - writableLength

/**
 * Closes a response that never had the socket, so that its resources are released. Node.js does so
 * only in later releases of version 24.
 */
function closeQueued(response: CountedResponse): void {
  response.destroy()
  setImmediate(() => {
    if (!response.closed) response.emit('close')
  })
}

const clientDisconnected = () => new Failure('unavailable', 'The client closed the connection.')
