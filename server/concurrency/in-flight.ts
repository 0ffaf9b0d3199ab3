import { Failure } from '../failure.ts'

/** Counts operations in progress, so that closing can reject new ones and wait for the rest. */
export class InFlight {
  #count = 0
  #closed = false
  #rejection: Failure | undefined
  #idle: (() => void) | undefined

  /**
   * Starts an operation.
   *
   * @throws Failure `unavailable` after {@link close}, or the failure passed to {@link rejectWith}.
   */
  enter(): void {
    if (this.#closed) throw new Failure('unavailable', 'The database is closed.')
    if (this.#rejection !== undefined) throw this.#rejection
    this.#count++
  }

  /** Ends an operation, successful or not. */
  leave(): void {
    this.#count--
    if (this.#count === 0) this.#idle?.()
  }

  /** Rejects new operations with this failure. With undefined, accepts operations again. */
  rejectWith(failure: Failure | undefined): void {
    this.#rejection = failure
  }

  /**
   * Rejects new operations, and resolves when all operations in progress have ended. Call it once.
   */
  async close(): Promise<void> {
    this.#closed = true
    if (this.#count === 0) return
    await new Promise<void>((resolve) => {
      this.#idle = resolve
    })
  }
}
