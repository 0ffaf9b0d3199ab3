import { PAGE_BYTES } from '../../../contract/document.ts'
import { Failure } from '../../../failure.ts'
import { Semaphore } from '../../../storage/changes/semaphore.ts'

/**
 * Limits of queries that read a collection without an index: how many run at once on a node, how
 * many wait, and for how long they wait and run, ms.
 */
export const SCANS = { running: 2, waiting: 100, wait: 5_000, duration: 10_000 } as const

/**
 * Maximum that a query reads by an index before the limits of scans apply to it: entries, and bytes
 * of documents.
 */
export const INDEXED_READ = { entries: 2_000, bytes: PAGE_BYTES } as const

/**
 * Called between two batches of a scan. Throws if the scan must end.
 *
 * @param paused how long the scan has paused since the last call, ms. Its limit excludes pauses.
 */
export type CheckScan = (paused?: number) => void

/** Limits the scans of a node ({@link SCANS}). */
export class ScanLimit {
  readonly #slots: Semaphore
  readonly #limits: Readonly<Record<keyof typeof SCANS, number>>
  readonly #now: () => number

  /** @param now returns the time of a monotonic clock, ms. */
  constructor(
    limits: Readonly<Record<keyof typeof SCANS, number>> = SCANS,
    now: () => number = () => performance.now(),
  ) {
    this.#limits = limits
    this.#slots = new Semaphore(limits.running)
    this.#now = now
  }

  get waiting(): number {
    return this.#slots.waiting
  }

  /**
   * Runs a scan when a slot is free.
   *
   * @param signal aborted when the client disconnects.
   * @throws Failure `busy` if no slot becomes free or the client disconnects;
   * `query-too-expensive` if the scan takes too long.
   */
  async run<T>(signal: AbortSignal, scan: (check: CheckScan) => Promise<T>): Promise<T> {
    await this.#enter(signal)
    try {
      return await scan(this.#begin(signal))
    } finally {
      this.#slots.leave()
    }
  }

  /**
   * Runs a query by an index. It needs a slot once it has read more than {@link INDEXED_READ}.
   *
   * @param read awaits its argument before each batch, with the number of entries and the bytes of
   * documents read so far.
   * @throws Failure as {@link run}
   */
  async runIndexed<T>(
    signal: AbortSignal,
    read: (check: (entries: number, bytes: number) => Promise<void>) => Promise<T>,
  ): Promise<T> {
    let check: CheckScan | undefined
    try {
      return await read(async (entries, bytes) => {
        requireConnected(signal)
        if (
          check === undefined &&
          (entries >= INDEXED_READ.entries || bytes >= INDEXED_READ.bytes)
        ) {
          await this.#enter(signal)
          check = this.#begin(signal)
        }
        check?.()
      })
    } finally {
      if (check !== undefined) this.#slots.leave()
    }
  }

  #begin(signal: AbortSignal): CheckScan {
    let end = this.#now() + this.#limits.duration
    return (paused = 0) => {
      end += paused
      requireConnected(signal)
      if (this.#now() > end) throw tooExpensive(this.#limits.duration)
    }
  }

  async #enter(signal: AbortSignal): Promise<void> {
    const { waiting, wait } = this.#limits
    try {
      await this.#slots.enter(() => {
        if (this.#slots.waiting >= waiting) throw busy()
        return AbortSignal.any([signal, AbortSignal.timeout(wait)])
      })
    } catch (error) {
      throw error instanceof Failure ? error : busy()
    }
  }
}

/** @throws Failure `busy` */
export function requireConnected(signal: AbortSignal): void {
  if (signal.aborted) throw new Failure('busy', 'The client has disconnected.')
}

const busy = () =>
  new Failure('busy', 'Too many queries are running. Try again.', {
    headers: { 'Retry-After': '1' },
  })

const tooExpensive = (duration: number) =>
  new Failure(
    'query-too-expensive',
    `The query was stopped after ${duration / 1_000} s, because it reads too many documents. ` +
      'Begin after an id with after, or ask for a listing with Prefer: respond-async.',
  )
