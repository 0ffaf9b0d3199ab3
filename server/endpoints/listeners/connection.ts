import type { Socket } from 'node:net'
import { PAGE_BYTES } from '../contract/document.ts'
import { Failure } from '../failure.ts'
import type { ByteAccount, CountedResponse } from './counted-response.ts'
import type { ResponseBudget } from './response-budget.ts'

/** How long a connection may be without a request before a drain closes it, ms. */
export const IDLE_BEFORE_CLOSE = 1000

/** So many requests may wait on a connection; then no more are read from it until these are fewer. */
const MOST_WAITING = 100

/** So many requests that only read are answered at once on a connection. */
const MOST_READS = 10

/** While a connection holds this many bytes of responses, no further request of it is started. */
export const CONNECTION_UNSENT = 1024 * 1024

/** The most bytes of responses that a connection prepares at once: one full page. */
export const CONNECTION_PREPARED = PAGE_BYTES

/** What a waiting request takes, bytes: its objects and headers. */
const WAITING_BYTES = 8 * 1024

/** A request that waits for those before it on its connection. */
interface Waiting {
  readonly safe: boolean
  readonly answer: () => void
}

/** A response that waits until its connection has room to prepare it. */
interface WaitingForRoom {
  readonly response: CountedResponse
  readonly bytes: number
  readonly resolve: () => void
  readonly reject: (error: unknown) => void
}

/**
 * One accepted connection of a listener, and what a drain must know of it: whether a request is
 * under way, and since when none was.
 *
 * Clients may send requests without waiting for answers. Those that only read are answered beside each
 * other; one that may change something waits for all before it, and all after it wait for it (RFC 9112
 * §9.3.2): else who writes and then reads would read what was there before.
 *
 * The connection counts the bytes of its responses that are being prepared or that its client has not
 * read. While these are too many, its next requests wait.
 */
export class Connection implements ByteAccount {
  readonly socket: Socket
  readonly #budget: ResponseBudget
  #response: CountedResponse | undefined
  #idleSince = performance.now()
  #readWhenIdle: number
  #reads = 0
  #changes = 0
  readonly #waiting: Waiting[] = []
  #held = 0
  readonly #waitingForRoom: WaitingForRoom[] = []
  #closed = false
  #written = Number.NaN
  #looksWithoutProgress = 0

  constructor(socket: Socket, budget: ResponseBudget) {
    this.socket = socket
    this.#budget = budget
    this.#readWhenIdle = socket.bytesRead
    socket.once('close', () => this.#close())
  }

  /** A request's head was read. `last`: tell the client that it is the last one here. */
  begin(response: CountedResponse, last: boolean): void {
    response.countIn(this)
    this.#response = response
    if (last) this.sayLast()
  }

  /** The response is written, or its connection gone. `now` as `performance.now()` counts. */
  end(response: CountedResponse, now: number): void {
    response.releaseAll()
    // With pipelined requests the next one may have begun before the last one's close.
    if (this.#response !== response) return
    this.#response = undefined
    this.#idleSince = now
    this.#readWhenIdle = this.socket.bytesRead
  }

  /** Has a request answered as soon as its turn has come. `safe`: it changes nothing. */
  enter(safe: boolean, answer: () => void): void {
    if (this.#waiting.length === 0 && this.#mayStart(safe)) this.#start({ safe, answer })
    else this.#wait({ safe, answer })
  }

  /** A request that was let in has its answer; those that waited for it have their turn. */
  leave(safe: boolean): void {
    if (safe) this.#reads--
    else this.#changes--
    // Nobody is there to be answered.
    if (this.socket.destroyed) return
    this.#reserveForWaiting()
    for (;;) {
      const [next] = this.#waiting
      if (next === undefined || !this.#mayStart(next.safe)) return
      this.#waiting.shift()
      this.#budget.release(WAITING_BYTES)
      if (this.#waiting.length === MOST_WAITING - 1) this.socket.resume()
      this.#start(next)
    }
  }

  /**
   * Holds bytes for a response that is about to be prepared, in place of what it held before. Waits
   * while the connection prepares too much; the response that its client receives next never waits.
   *
   * @throws Failure `unavailable` where the node holds too much, or the client has left.
   */
  async reserve(response: CountedResponse, bytes: number): Promise<void> {
    if (this.#closed) throw clientHasLeft()
    if (this.#tryToReserve(response, bytes)) return
    await new Promise<void>((resolve, reject) => {
      this.#waitingForRoom.push({ response, bytes, resolve, reject })
    })
  }

  hold(bytes: number): void {
    if (this.#closed) return
    this.#held += bytes
    this.#budget.hold(bytes)
  }

  release(bytes: number): void {
    if (this.#closed) return
    this.#held -= bytes
    this.#budget.release(bytes)
  }

  /** Puts `Connection: close` on the response under way, if its head is not yet written. */
  sayLast(): void {
    if (this.#response !== undefined && !this.#response.headersSent) {
      this.#response.shouldKeepAlive = false
    }
  }

  /** Whether nothing is under way here and nothing was for {@link IDLE_BEFORE_CLOSE}. */
  isIdle(now: number): boolean {
    return (
      this.#response === undefined &&
      now - this.#idleSince >= IDLE_BEFORE_CLOSE &&
      // Bytes have come since: a request whose head is still on its way.
      this.socket.bytesRead === this.#readWhenIdle
    )
  }

  /**
   * Looks whether the client takes what waits to be sent. Returns how many looks in a row have found
   * that it took nothing. Looks are counted, not time, so that a process which was halted cuts nobody.
   */
  lookForProgress(): number {
    const { writableLength, bytesWritten } = this.socket
    const written = bytesWritten - writableLength
    if (writableLength === 0 || written !== this.#written) this.#looksWithoutProgress = 0
    else this.#looksWithoutProgress++
    this.#written = written
    return this.#looksWithoutProgress
  }

  #mayStart(safe: boolean): boolean {
    if (this.#held >= CONNECTION_UNSENT) return false
    return this.#changes === 0 && this.#reads < (safe ? MOST_READS : 1)
  }

  #start({ safe, answer }: Waiting): void {
    if (safe) this.#reads++
    else this.#changes++
    answer()
  }

  #wait(request: Waiting): void {
    // The node has no room for more requests of clients that do not read their responses.
    if (this.#budget.isFull) {
      this.socket.destroy()
      return
    }
    this.#waiting.push(request)
    this.#budget.hold(WAITING_BYTES)
    // Not at once: with the end of the request, Node has the socket go on.
    if (this.#waiting.length >= MOST_WAITING) setImmediate(() => this.#pause())
  }

  #pause(): void {
    if (this.#waiting.length >= MOST_WAITING) this.socket.pause()
  }

  /** Returns false where the connection has no room yet. */
  #tryToReserve(response: CountedResponse, bytes: number): boolean {
    const more = bytes - response.reserved
    // Only the response that is sent next has the socket.
    if (response.socket === null && this.#held + more > CONNECTION_PREPARED) return false
    this.#budget.requireRoom(more)
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
    this.#budget.release(this.#held + this.#waiting.length * WAITING_BYTES)
    this.#closed = true
    this.#waiting.length = 0
    for (const { reject } of this.#waitingForRoom.splice(0)) reject(clientHasLeft())
  }
}

const clientHasLeft = () => new Failure('unavailable', 'The client has left.')
