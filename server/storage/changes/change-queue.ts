import { Failure } from '../failure.ts'

/** Maximum time that a change waits for the changes of this node before it, ms. */
export const CHANGE_WAIT = 10_000

/** Maximum number of changes that wait. */
export const CHANGES_WAITING = 1_000

/** A change that waits. */
interface Turn {
  readonly timer: NodeJS.Timeout
  readonly resolve: () => void
  readonly reject: (failure: Failure) => void
}

/** Runs changes one after the other, in the order in which they come. */
export class ChangeQueue {
  readonly #limit: number
  /** In order. */
  readonly #waiting = new Set<Turn>()
  #running = false
  #closed = false

  /** @param limit maximum wait, ms. */
  constructor(limit = CHANGE_WAIT) {
    this.#limit = limit
  }

  /**
   * @throws Failure `unavailable` where too many wait, one has waited too long, or the queue was
   * closed before its turn.
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

  /** Rejects the changes that wait, and new ones. */
  close(): void {
    this.#closed = true
    for (const turn of this.#waiting) this.#end(turn, closed())
  }

  #turn(): Promise<void> {
    if (this.#waiting.size >= CHANGES_WAITING) throw busy()
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const timer = setTimeout(() => this.#end(turn, busy()), this.#limit)
    const turn: Turn = { timer, resolve, reject }
    this.#waiting.add(turn)
    return promise
  }

  /** Begins a change that waits, or rejects it. */
  #end(turn: Turn, failure?: Failure): void {
    this.#waiting.delete(turn)
    clearTimeout(turn.timer)
    if (failure === undefined) turn.resolve()
    else turn.reject(failure)
  }

  #next(): void {
    const [turn] = this.#waiting
    // Where one waits, it begins at once: no change that comes now can come in between.
    if (turn === undefined) this.#running = false
    else this.#end(turn)
  }
}

const busy = () =>
  new Failure('unavailable', 'Too many changes wait for the store. Try again in a moment.')

const closed = () => new Failure('unavailable', 'The store is closed.')
