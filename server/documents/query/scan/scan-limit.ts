import { type Caller, WorkQueue } from '../../../concurrency/work-queue.ts'
import { PAGE_BYTES } from '../../../contract/document.ts'
import { Failure, requireConnected } from '../../../failure.ts'
import { ScanPace } from './scan-pace.ts'

/**
 * Limits of queries that read a collection without an index: how many run at once on a node, how
 * many wait, and for how long they wait, work, and run including their pauses, ms.
 */
export const SCANS = {
  running: 2,
  ofCaller: 2,
  waiting: 100,
  wait: 5_000,
  work: 10_000,
  duration: 60_000,
} as const

/**
 * Maximum that a query reads by an index before the limits of scans apply to it: entries, and bytes
 * of documents.
 */
export const INDEXED_READ = { entries: 2_000, bytes: PAGE_BYTES } as const

/**
 * Runs a step of a scan, such as a batch; see {@link ScanPace.run}.
 *
 * @throws Failure if the scan must end
 */
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
  readonly #queue: WorkQueue
  readonly #limits: Readonly<Record<keyof typeof SCANS, number>>
  readonly #now: () => number
  readonly #pace: ScanPace

  /** @param now returns the time of a monotonic clock, ms. */
  constructor(
    limits: Readonly<Record<keyof typeof SCANS, number>> = SCANS,
    now: () => number = () => performance.now(),
    pace: ScanPace = new ScanPace(),
  ) {
    this.#limits = limits
    this.#queue = new WorkQueue(limits, {
      work: 'queries',
      busy: 'Too many queries are running. Try again.',
      retryAfter: 1,
    })
    this.#now = now
    this.#pace = pace
  }

  get waiting(): number {
    return this.#queue.waiting
  }

  /** Runs a step of work that has limits of its own, such as a job. */
  readonly paced: ScanStep = (step) => this.#pace.run(step)

  /**
   * Runs a scan when a slot is free.
   *
   * @throws Failure `busy` if no slot becomes free or the client disconnects;
   * `query-too-expensive` if the scan takes too long.
   */
  async run<T>(caller: Caller, scan: (step: ScanStep) => Promise<T>): Promise<T> {
    await this.#queue.enter(caller)
    try {
      return await scan(this.#begin(caller))
    } finally {
      this.#queue.leave(caller)
    }
  }

  /**
   * Runs a query by an index. It needs a slot once it has read more than {@link INDEXED_READ}.
   *
   * @throws Failure as {@link run}
   */
  async runIndexed<T>(caller: Caller, read: (step: IndexStep) => Promise<T>): Promise<T> {
    let limited: ScanStep | undefined
    try {
      return await read(async (entries, bytes, step) => {
        requireConnected(caller.signal)
        const isLong = entries >= INDEXED_READ.entries || bytes >= INDEXED_READ.bytes
        if (limited === undefined && isLong) {
          await this.#queue.enter(caller)
          limited = this.#begin(caller)
        }
        return limited === undefined ? step() : limited(step)
      })
    } finally {
      if (limited !== undefined) this.#queue.leave(caller)
    }
  }

  #begin({ signal }: Caller): ScanStep {
    const { work, duration } = this.#limits
    const end = this.#now() + duration
    let worked = 0
    return (step) => {
      requireConnected(signal)
      return this.#pace.run(async () => {
        requireConnected(signal)
        const begun = this.#now()
        if (worked > work) throw tooExpensive(work)
        if (begun > end) throw tooExpensive(duration)
        try {
          return await step()
        } finally {
          worked += this.#now() - begun
        }
      })
    }
  }
}

const tooExpensive = (time: number) =>
  new Failure(
    'query-too-expensive',
    `The query was stopped after ${time / 1_000} s, because it reads too many documents.`,
  )
