import { type Caller, WorkQueue } from '../../concurrency/work-queue.ts'
import { Failure } from '../../failure.ts'

/**
 * Limits of exports: how many run at once on a node, how many wait, and for how long they wait and
 * run, ms. A running export holds a snapshot of the store. While another one waits, its client must
 * read `progress` bytes before the export has waited for it for `stallTimeout` ms.
 */
export const EXPORTS = {
  running: 2,
  ofCaller: 1,
  waiting: 100,
  wait: 5_000,
  duration: 30 * 60_000,
  progress: 1024 * 1024,
  stallTimeout: 10_000,
} as const

/** How often a waiting export looks for one whose client reads too slowly, ms. */
const LOOK = 1_000

/** The turn of an export. */
export interface ExportTurn extends Disposable {
  /** When the export must end, by `performance.now()`. */
  readonly deadline: number
  /** Aborted if the client reads too slowly while another export waits. */
  readonly signal: AbortSignal
  /** Called when a chunk was written. The export then waits until its client has read it. */
  readonly written: (bytes: number) => void
  /** Called when the client has read it. */
  readonly continued: () => void
  /** @throws Failure `busy` if the export must end. */
  readonly check: () => void
}

/** Limits the exports of a node ({@link EXPORTS}). */
export class ExportLimit {
  readonly #limits: Readonly<Record<keyof typeof EXPORTS, number>>
  readonly #queue: WorkQueue
  readonly #running = new Set<Reader>()

  constructor(limits: Readonly<Record<keyof typeof EXPORTS, number>> = EXPORTS) {
    this.#limits = limits
    this.#queue = new WorkQueue(limits, {
      work: 'exports',
      busy: 'Too many exports are running. Try again.',
      retryAfter: 5,
    })
  }

  /** Number of exports that run. */
  get running(): number {
    return this.#queue.running
  }

  /**
   * Waits for the turn of an export.
   *
   * @throws Failure `busy` with `Retry-After`
   */
  async enter(caller: Caller): Promise<ExportTurn> {
    const { duration } = this.#limits
    const entering = this.#queue.enter(caller)
    if (entering !== undefined) await this.#endingSlow(caller, entering)
    const deadline = performance.now() + duration
    const reader = new Reader(caller.id, this.#limits)
    this.#running.add(reader)
    const { signal } = reader
    return {
      deadline,
      signal,
      written: (bytes) => reader.written(bytes),
      continued: () => reader.continued(),
      check() {
        if (caller.signal.aborted) throw new Failure('busy', 'The client has disconnected.')
        if (performance.now() > deadline) throw tooLong(duration)
        signal.throwIfAborted()
      },
      [Symbol.dispose]: () => {
        this.#running.delete(reader)
        this.#queue.leave(caller)
      },
    }
  }

  /** Ends exports for which another one waits and whose clients read too slowly, until it enters. */
  async #endingSlow(waiting: Caller, entering: Promise<void>): Promise<void> {
    const endOne = () => {
      const waitsForOwn = this.#queue.isAtShare(waiting)
      for (const reader of this.#running) {
        if (waitsForOwn && reader.caller !== waiting.id) continue
        if (reader.endIfSlow()) return
      }
    }
    endOne()
    const timer = setInterval(endOne, LOOK)
    try {
      await entering
    } finally {
      clearInterval(timer)
    }
  }
}

/** Measures for how long an export waits for its client. */
class Reader {
  /** The id of the caller. */
  readonly caller: string
  readonly #ending = new AbortController()
  readonly #limits: Readonly<Record<'progress' | 'stallTimeout', number>>
  /** Bytes passed on, and ms waited, since the client has last read `progress` bytes. */
  #bytes = 0
  #waited = 0
  #waitsSince: number | undefined

  constructor(caller: string, limits: Readonly<Record<'progress' | 'stallTimeout', number>>) {
    this.caller = caller
    this.#limits = limits
  }

  get signal(): AbortSignal {
    return this.#ending.signal
  }

  written(bytes: number): void {
    this.#bytes += bytes
    this.#waitsSince = performance.now()
  }

  continued(): void {
    this.#waited += this.#waiting()
    this.#waitsSince = undefined
    if (this.#bytes < this.#limits.progress) return
    this.#bytes = 0
    this.#waited = 0
  }

  /** Ends the export if its client reads too slowly. Returns whether it did. */
  endIfSlow(): boolean {
    if (this.signal.aborted || this.#waited + this.#waiting() < this.#limits.stallTimeout)
      return false
    this.#ending.abort(tooSlow())
    return true
  }

  #waiting(): number {
    return this.#waitsSince === undefined ? 0 : performance.now() - this.#waitsSince
  }
}

const tooSlow = () =>
  new Failure('busy', 'The client reads the export too slowly while others wait.')

const tooLong = (duration: number) =>
  new Failure('busy', `The export was stopped after ${duration / 60_000} minutes.`)
