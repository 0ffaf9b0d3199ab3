import { Failure } from '../failure.ts'

/** Counts the work under way, so that closing can refuse what is new and wait for the rest. */
export class InFlight {
  #count = 0
  #closed = false
  #refusal: Failure | undefined
  #idle: (() => void) | undefined

  /**
   * Work begins. Throws `Failure('unavailable')` once {@link close} has been called, and the failure
   * given to {@link refuse}.
   */
  enter(): void {
    if (this.#closed) throw new Failure('unavailable', 'The store is closed.')
    if (this.#refusal !== undefined) throw this.#refusal
    this.#count++
  }

  /** Work that was let in has ended, well or not. */
  leave(): void {
    this.#count--
    if (this.#count === 0) this.#idle?.()
  }

  /** Rejects all new work with this failure; undefined: accepts work again. */
  refuse(failure: Failure | undefined): void {
    this.#refusal = failure
  }

  /** Lets nothing in any more; resolves when the last has left. To be called once. */
  async close(): Promise<void> {
    this.#closed = true
    if (this.#count === 0) return
    await new Promise<void>((resolve) => {
      this.#idle = resolve
    })
  }
}
