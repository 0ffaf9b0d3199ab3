import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/** How long a connection may be without a request before a drain closes it, ms. */
export const IDLE_BEFORE_CLOSE = 1000

/** So many requests may wait on a connection; then no more are read from it until these are fewer. */
const MOST_WAITING = 100

/** So many requests that only read are answered at once on a connection: each may take a large page. */
const MOST_READS = 10

/** A request that waits for those before it on its connection. */
interface Waiting {
  readonly safe: boolean
  readonly answer: () => void
}

/**
 * One accepted connection of a listener, and what a drain must know of it: whether a request is
 * under way, and since when none was.
 *
 * Clients may send requests without waiting for answers. Those that only read are answered beside each
 * other; one that may change something waits for all before it, and all after it wait for it (RFC 9112
 * §9.3.2): else who writes and then reads would read what was there before.
 */
export class Connection {
  readonly socket: Socket
  #response: ServerResponse | undefined
  #idleSince = performance.now()
  #readWhenIdle: number
  #reads = 0
  #changes = 0
  readonly #waiting: Waiting[] = []

  constructor(socket: Socket) {
    this.socket = socket
    this.#readWhenIdle = socket.bytesRead
  }

  /** A request's head was read. `last`: tell the client that it is the last one here. */
  begin(response: ServerResponse, last: boolean): void {
    this.#response = response
    if (last) this.sayLast()
  }

  /** The response is written, or its connection gone. `now` as `performance.now()` counts. */
  end(response: ServerResponse, now: number): void {
    // With pipelined requests the next one may have begun before the last one's close.
    if (this.#response !== response) return
    this.#response = undefined
    this.#idleSince = now
    this.#readWhenIdle = this.socket.bytesRead
  }

  /** Has a request answered as soon as its turn has come. `safe`: it changes nothing. */
  enter(safe: boolean, answer: () => void): void {
    if (this.#waiting.length === 0 && this.#mayStart(safe)) this.#start({ safe, answer })
    else this.#waiting.push({ safe, answer })
    // Not at once: with the end of the request, Node has the socket go on.
    if (this.#waiting.length >= MOST_WAITING) setImmediate(() => this.#hold())
  }

  /** A request that was let in has its answer; those that waited for it have their turn. */
  leave(safe: boolean): void {
    if (safe) this.#reads--
    else this.#changes--
    // Nobody is there to be answered.
    if (this.socket.destroyed) return
    for (;;) {
      const [next] = this.#waiting
      if (next === undefined || !this.#mayStart(next.safe)) return
      this.#waiting.shift()
      if (this.#waiting.length === MOST_WAITING - 1) this.socket.resume()
      this.#start(next)
    }
  }

  #mayStart(safe: boolean): boolean {
    return this.#changes === 0 && this.#reads < (safe ? MOST_READS : 1)
  }

  #hold(): void {
    if (this.#waiting.length >= MOST_WAITING) this.socket.pause()
  }

  #start({ safe, answer }: Waiting): void {
    if (safe) this.#reads++
    else this.#changes++
    answer()
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
}
