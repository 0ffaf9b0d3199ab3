/** Limits of those that wait for a {@link Semaphore}. */
export interface WaitLimits {
  /** Maximum number that wait. */
  readonly waiting: number
  /** Maximum time of a wait, ms. */
  readonly wait: number
  /** Returns the error if a limit is reached or the client disconnects. */
  readonly busy: () => Error
}

/** Limits concurrency. Those beyond the limit wait, and enter in order of arrival. */
export class Semaphore {
  readonly #limit: number
  readonly #waitLimits: WaitLimits | undefined
  readonly #waiting = new Set<() => void>()
  #held = 0

  /** @param waitLimits by default, there are none. */
  constructor(limit: number, waitLimits?: WaitLimits) {
    this.#limit = limit
    this.#waitLimits = waitLimits
  }

  /** Number that have entered and not yet left. */
  get held(): number {
    return this.#held
  }

  get waiting(): number {
    return this.#waiting.size
  }

  /**
   * Enters when a slot is free. Each that enters must call {@link leave}.
   *
   * @param signal returns a signal that ends the wait. Called only if there is one.
   * @returns undefined if there is no wait.
   * @throws the error of {@link WaitLimits.busy}; without limits, the reason of the signal
   */
  enter(signal?: () => AbortSignal): Promise<void> | undefined {
    if (this.#held < this.#limit) {
      this.#held++
      return undefined
    }
    const limits = this.#waitLimits
    if (limits !== undefined && this.#waiting.size >= limits.waiting) throw limits.busy()
    return this.#wait(signal?.())
  }

  leave(): void {
    const [enter] = this.#waiting
    // The slot passes on directly, so that none can overtake those that wait.
    if (enter === undefined) this.#held--
    else enter()
  }

  #wait(signal: AbortSignal | undefined): Promise<void> {
    const limits = this.#waitLimits
    return new Promise((resolve, reject) => {
      const remove = () => {
        clearTimeout(timer)
        signal?.removeEventListener('abort', abort)
        this.#waiting.delete(enter)
      }
      const enter = () => {
        remove()
        resolve()
      }
      const abort = () => {
        remove()
        reject(limits?.busy() ?? signal?.reason)
      }
      const timer = limits && setTimeout(abort, limits.wait)
      this.#waiting.add(enter)
      signal?.addEventListener('abort', abort, { once: true })
      if (signal?.aborted) abort()
    })
  }
}
