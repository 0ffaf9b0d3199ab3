/** Limits concurrency. Callers beyond the limit wait in order of arrival. */
export class Semaphore {
  readonly #limit: number
  readonly #waiting = new Set<() => void>()
  #held = 0

  constructor(limit: number) {
    this.#limit = limit
  }

  /** Number of callers that have entered and not yet left. */
  get held(): number {
    return this.#held
  }

  get waiting(): number {
    return this.#waiting.size
  }

  /**
   * Enters, after the callers that already wait. Each caller that enters must call {@link leave}.
   *
   * @returns undefined if there is no wait.
   * @throws the reason of the signal if it is aborted before the caller enters.
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
    // The slot passes directly to the next caller, so that a new caller cannot overtake it.
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
