import { Failure } from '../../failure.ts'
import { Semaphore } from '../../storage/changes/semaphore.ts'

/**
 * Limits of exports: how many run at once on a node, how many wait, and for how long they wait and
 * run, ms. A running export holds a snapshot of the store.
 */
export const EXPORTS = { running: 2, waiting: 100, wait: 5_000, duration: 30 * 60_000 } as const

/** The turn of an export. */
export interface ExportTurn extends Disposable {
  /** When the export must end, by `performance.now()`. */
  readonly deadline: number
  /** @throws Failure `busy` if the export must end. */
  readonly check: () => void
}

/** Limits the exports of a node ({@link EXPORTS}). */
export class ExportLimit {
  readonly #limits: Readonly<Record<keyof typeof EXPORTS, number>>
  readonly #slots: Semaphore

  constructor(limits: Readonly<Record<keyof typeof EXPORTS, number>> = EXPORTS) {
    this.#limits = limits
    this.#slots = new Semaphore(limits.running)
  }

  /** Number of exports that run. */
  get running(): number {
    return this.#slots.held
  }

  /**
   * Waits for the turn of an export.
   *
   * @param client aborted when the client disconnects.
   * @throws Failure `busy` with `Retry-After`
   */
  async enter(client: AbortSignal): Promise<ExportTurn> {
    const { running, waiting, wait, duration } = this.#limits
    try {
      await this.#slots.enter(() => {
        if (this.#slots.waiting >= waiting) throw tooMany(running)
        return AbortSignal.any([client, AbortSignal.timeout(wait)])
      })
    } catch {
      throw tooMany(running)
    }
    const deadline = performance.now() + duration
    return {
      deadline,
      check() {
        if (client.aborted) throw new Failure('busy', 'The client has disconnected.')
        if (performance.now() > deadline) throw tooLong(duration)
      },
      [Symbol.dispose]: () => this.#slots.leave(),
    }
  }
}

const tooMany = (running: number) =>
  new Failure('busy', `This node runs at most ${running} exports at once. Try again.`, {
    headers: { 'Retry-After': '5' },
  })

const tooLong = (duration: number) =>
  new Failure('busy', `The export was stopped after ${duration / 60_000} minutes.`)
