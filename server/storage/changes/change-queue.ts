import { Failure } from '../../failure.ts'

/** Maximum time that a change waits for earlier changes of this node, ms. */
export const CHANGE_WAIT = 10_000

/** Maximum number of waiting changes. */
export const MAX_WAITING_CHANGES = 1_000

interface Turn {
  readonly timer: NodeJS.Timeout
  readonly resolve: () => void
  readonly reject: (failure: Failure) => void
}

/** Runs changes one at a time, in order of arrival. */
export class ChangeQueue {
  readonly #limit: number
  /** In order of arrival. */
  readonly #waiting = new Set<Turn>()
  #running = false
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
    if (this.#running) await this.#turn()
    this.#running = true
    try {
      return await work()
    } finally {
      this.#next()
    }
  }

  /** Rejects waiting and new changes. */
  close(): void {
    this.#closed = true
    for (const turn of this.#waiting) this.#end(turn, closed())
  }

  #turn(): Promise<void> {
    if (this.#waiting.size >= MAX_WAITING_CHANGES) throw busy()
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const timer = setTimeout(() => this.#end(turn, busy()), this.#limit)
    const turn: Turn = { timer, resolve, reject }
    this.#waiting.add(turn)
    return promise
  }

  /** Starts a waiting change, or rejects it. */
  #end(turn: Turn, failure?: Failure): void {
    this.#waiting.delete(turn)
    clearTimeout(turn.timer)
    if (failure === undefined) turn.resolve()
    else turn.reject(failure)
  }

  #next(): void {
    const [turn] = this.#waiting
    // The next change starts without releasing `#running`, so that a new change cannot overtake it.
    if (turn === undefined) this.#running = false
    else this.#end(turn)
  }
}

const busy = () =>
  new Failure('unavailable', 'Too many changes wait for the database. Try again in a moment.')

const closed = () => new Failure('unavailable', 'The database is closed.')
