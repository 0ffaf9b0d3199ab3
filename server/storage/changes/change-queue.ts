import { Semaphore } from '../../concurrency/semaphore.ts'
import { Failure } from '../../failure.ts'

/** Maximum time that a change waits for earlier changes of this node, ms. */
export const CHANGE_WAIT = 10_000

/** Maximum number of waiting changes. */
export const MAX_WAITING_CHANGES = 1_000

/** Runs changes one at a time, in order of arrival. */
export class ChangeQueue {
  readonly #limit: number
  readonly #turn = new Semaphore(1)
  /** Ends the wait of each waiting change. */
  readonly #waiting = new Set<AbortController>()
  #closed = false

  /** @param limit maximum wait, ms. */
  constructor(limit = CHANGE_WAIT) {
    this.#limit = limit
  }

  /**
   * Runs a change after all earlier ones.
   *
   * @throws Failure `unavailable` if too many changes wait, if this one has waited too long, or if
   * the queue is closed.
   */
  async run<T>(work: () => Promise<T>): Promise<T> {
    if (this.#closed) throw closed()
    if (!this.#turn.tryEnter()) await this.#wait()
    try {
      return await work()
    } finally {
      this.#turn.leave()
    }
  }

  /** Rejects waiting and new changes. */
  close(): void {
    this.#closed = true
    for (const wait of this.#waiting) wait.abort(closed())
  }

  async #wait(): Promise<void> {
    if (this.#turn.waiting >= MAX_WAITING_CHANGES) throw busy()
    const wait = new AbortController()
    const timer = setTimeout(() => wait.abort(busy()), this.#limit)
    this.#waiting.add(wait)
    try {
      await this.#turn.enter(() => wait.signal)
    } finally {
      clearTimeout(timer)
      this.#waiting.delete(wait)
    }
  }
}

const busy = () =>
  new Failure('unavailable', 'Too many changes wait for the database. Try again in a moment.')

const closed = () => new Failure('unavailable', 'The database is closed.')
