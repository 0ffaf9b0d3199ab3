import type { Caller } from '../../concurrency/caller.ts'
import { Semaphore } from '../../concurrency/semaphore.ts'
import { Failure } from '../../failure.ts'

/**
 * Limits of exports: how many run at once on a node, how many wait, and for how long they wait and
 * run, ms. A running export holds a snapshot of the store.
 */
export const EXPORTS = {
  running: 3,
  waiting: 100,
  wait: 5_000,
  duration: 30 * 60_000,
} as const

/** The turn of an export. */
export interface ExportTurn extends Disposable {
  /** When the export must end, by `performance.now()`. */
  readonly deadline: number
  /** @throws Failure `busy` if the export must end. */
  readonly check: () => void
}

/** Limits the exports of a node ({@link EXPORTS}). */
export class ExportLimit {
  readonly #slots: Semaphore
  readonly #duration: number

  constructor(limits: Readonly<Record<keyof typeof EXPORTS, number>> = EXPORTS) {
    this.#slots = new Semaphore(limits.running, { ...limits, busy })
    this.#duration = limits.duration
  }

  /** Number of exports that run. */
  get running(): number {
    return this.#slots.held
  }

  /**
   * Waits for the turn of an export.
   *
   * @throws Failure `busy` with `Retry-After`
   */
  async enter({ signal }: Caller): Promise<ExportTurn> {
    await this.#slots.enter(() => signal)
    const deadline = performance.now() + this.#duration
    return {
      deadline,
      check: () => {
        if (signal.aborted) throw new Failure('busy', 'The client has disconnected.')
        if (performance.now() > deadline) throw tooLong(this.#duration)
      },
      [Symbol.dispose]: () => this.#slots.leave(),
    }
  }
}

const busy = () =>
  new Failure('busy', 'Too many exports are running. Try again.', {
    headers: { 'Retry-After': '5' },
  })

const tooLong = (duration: number) =>
  new Failure('busy', `The export was stopped after ${duration / 60_000} minutes.`)
