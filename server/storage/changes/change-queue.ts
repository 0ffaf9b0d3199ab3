import { Semaphore } from '../../concurrency/semaphore.ts'
import { Failure } from '../../failure.ts'

/** Maximum time that a change waits for earlier changes of this node, ms. */
const CHANGE_WAIT = 10_000

/** Maximum number of waiting changes. */
export const MAX_WAITING_CHANGES = 1_000

/** Runs changes one at a time, in order of arrival. */
export class ChangeQueue {
  readonly #slot: Semaphore
  readonly #closing = new AbortController()

  /** @param wait maximum wait, ms. */
  constructor(wait = CHANGE_WAIT) {
    const busy = () => (this.#closing.signal.aborted ? closed() : tooMany())
    this.#slot = new Semaphore(1, { waiting: MAX_WAITING_CHANGES, wait, busy })
  }

  /**
   * Runs a change after all earlier ones.
   *
   * @throws Failure `unavailable` if too many changes wait, if this one has waited too long, or if
   * the queue is closed.
   */
  async run<T>(work: () => Promise<T>): Promise<T> {
    if (this.#closing.signal.aborted) throw closed()
    await this.#slot.enter(() => this.#closing.signal)
    try {
      return await work()
    } finally {
      this.#slot.leave()
    }
  }

  /** Rejects waiting and new changes. */
  close(): void {
    this.#closing.abort()
  }
}

const tooMany = () =>
  new Failure('unavailable', 'Too many changes wait for the database. Try again in a moment.')

const closed = () => new Failure('unavailable', 'The database is closed.')
