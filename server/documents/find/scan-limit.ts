import { Semaphore } from '../../concurrency/semaphore.ts'
import { PAGE_BYTES } from '../../contract/document.ts'
import { Failure, requireConnected } from '../../failure.ts'

/**
 * Limits of queries that read a collection without an index: how many run at once on a node, how
 * many wait, and for how long they wait and work, ms.
 */
export const SCANS = { running: 2, waiting: 100, wait: 5_000, work: 10_000 } as const

/**
 * Maximum that a query reads by an index before the limits of scans apply to it: entries, and bytes
 * of documents.
 */
export const INDEXED_READ = { entries: 2_000, bytes: PAGE_BYTES } as const

/** Runs a step of a scan, such as a batch. @throws Failure if the scan must end */
export type ScanStep = <T>(step: () => T | Promise<T>) => Promise<T>

/**
 * Runs a step of a query by an index.
 *
 * @param entries number of entries that the query has read so far.
 * @param bytes size of the documents that it has read so far.
 * @throws Failure if the query must end
 */
export type IndexStep = <T>(
  entries: number,
  bytes: number,
  step: () => T | Promise<T>,
) => Promise<T>

/** Limits the scans of a node ({@link SCANS}). */
export class ScanLimit {
  readonly #slots: Semaphore
  readonly #work: number
  readonly #now: () => number

  /** @param now returns the time of a monotonic clock, ms. */
  constructor(
    limits: Readonly<Record<keyof typeof SCANS, number>> = SCANS,
    now: () => number = () => performance.now(),
  ) {
    this.#slots = new Semaphore(limits.running, { ...limits, busy })
    this.#work = limits.work
    this.#now = now
  }

  get waiting(): number {
    return this.#slots.waiting
  }

  /**
   * Runs a scan when a slot is free.
   *
   * @throws Failure `busy` if no slot becomes free or the client disconnects;
   * `query-too-expensive` if the scan takes too long.
   */
  async run<T>(signal: AbortSignal, scan: (step: ScanStep) => Promise<T>): Promise<T> {
    await this.#slots.enter(() => signal)
    try {
      return await scan(this.#begin(signal))
    } finally {
      this.#slots.leave()
    }
  }

  /**
   * Runs a query by an index. It needs a slot once it has read more than {@link INDEXED_READ}.
   *
   * @throws Failure as {@link run}
   */
  async runIndexed<T>(signal: AbortSignal, read: (step: IndexStep) => Promise<T>): Promise<T> {
    let limited: ScanStep | undefined
    try {
      return await read(async (entries, bytes, step) => {
        requireConnected(signal)
        const isLong = entries >= INDEXED_READ.entries || bytes >= INDEXED_READ.bytes
        if (limited === undefined && isLong) {
          await this.#slots.enter(() => signal)
          limited = this.#begin(signal)
        }
        return limited === undefined ? step() : limited(step)
      })
    } finally {
      if (limited !== undefined) this.#slots.leave()
    }
  }

  #begin(signal: AbortSignal): ScanStep {
    let worked = 0
    return async (step) => {
      requireConnected(signal)
      if (worked > this.#work) throw tooExpensive(this.#work)
      const begun = this.#now()
      try {
        return await step()
      } finally {
        worked += this.#now() - begun
      }
    }
  }
}

const busy = () =>
  new Failure('busy', 'Too many queries are running. Try again.', {
    headers: { 'Retry-After': '1' },
  })

const tooExpensive = (time: number) =>
  new Failure(
    'query-too-expensive',
    `The query was stopped after ${time / 1_000} s, because it reads too many documents.`,
  )
