/** Lets a limited number in at once; the others wait in the order in which they came. */
export class Semaphore {
  readonly #limit: number
  readonly #waiting = new Set<() => void>()
  #held = 0

  constructor(limit: number) {
    this.#limit = limit
  }

  /** How many were let in and have not left. */
  get held(): number {
    return this.#held
  }

  get waiting(): number {
    return this.#waiting.size
  }

  /**
   * Enters, after those who wait already. Whoever entered has to {@link leave}.
   *
   * @returns undefined where nothing has to be waited for.
   * @throws the reason of the signal, where it is aborted first.
   */
  enter(signal: () => AbortSignal): Promise<void> | undefined {
    if (this.#held < this.#limit) {
      this.#held++
      return undefined
    }
    return this.#wait(signal())
  }

  leave(): void {
    const [next] = this.#waiting
    // The place passes from one to the next, so that nobody can come in between.
    if (next === undefined) this.#held--
    else next()
  }

  #wait(signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const enter = () => {
        this.#waiting.delete(enter)
        signal.removeEventListener('abort', abort)
        resolve()
      }
      const abort = () => {
        this.#waiting.delete(enter)
        reject(signal.reason)
      }
      this.#waiting.add(enter)
      signal.addEventListener('abort', abort, { once: true })
      if (signal.aborted) abort()
    })
  }
}
