import { nextTick } from 'node:process'

/** Time that the work of a class has in a turn of the event loop, ms. */
export const SHARE = 5

/**
 * A share of each turn of the event loop, for short work that many requests may begin in the same
 * turn. It runs one piece after another, for {@link SHARE}. The other pieces wait for later turns, in
 * the order of their arrival, and the event loop handles other events in between
 * (docs/decisions/0035-shares-of-the-event-loop.md).
 */
export class TurnShare {
  readonly #waiting: (() => void)[] = []
  #isRunning = false
  /** When the first work of the current turn began; undefined before it. */
  #begun: number | undefined

  /** Runs a piece of work with the microtasks that it begins, at once if possible. */
  run(work: () => void): void {
    // Work waits only while other work runs or no time is left.
    if (this.#isRunning || !this.#hasTime()) this.#waiting.push(work)
    else this.#begin(work)
  }

  /** Resolves when the caller may run. */
  enter(): Promise<void> {
    return new Promise((resolve) => this.run(resolve))
  }

  #begin(work: () => void): void {
    this.#isRunning = true
    // Runs after the microtasks, even if the work throws.
    queueMicrotask(() => nextTick(() => this.#end()))
    work()
  }

  #end(): void {
    this.#isRunning = false
    if (this.#waiting.length === 0 || !this.#hasTime()) return
    this.#begin(this.#waiting.shift() as () => void)
  }

  #hasTime(): boolean {
    if (this.#begun !== undefined) return performance.now() - this.#begun < SHARE
    this.#begun = performance.now()
    setImmediate(() => this.#endTurn())
    return true
  }

  #endTurn(): void {
    this.#begun = undefined
    this.#end()
  }
}

/** The work of the administration: the console, its API and signing in. */
export const administration = new TurnShare()

/** All other work: requests, TLS handshakes, and what callers do with results of PostgreSQL. */
export const otherWork = new TurnShare()
