import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/** How long a connection may be without a request before a drain closes it, ms. */
export const IDLE_BEFORE_CLOSE = 1000

/**
 * One accepted connection of a listener, and what a drain must know of it: whether a request is
 * under way, and since when none was.
 */
export class Connection {
  readonly socket: Socket
  #response: ServerResponse | undefined
  #idleSince = performance.now()
  #readWhenIdle: number

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
