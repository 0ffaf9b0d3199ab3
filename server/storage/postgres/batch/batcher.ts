import { otherWork } from '../../../concurrency/turn-share.ts'
import { Failure } from '../../../failure.ts'
import type { Pace } from './pace.ts'

export interface BatchLimits {
  /** Maximum number of rows that a batch changes or returns. */
  readonly rows: number
  /** Maximum size of a batch, bytes; a larger item is a batch of its own. */
  readonly bytes: number
  /** Maximum number of waiting items. Further ones are rejected immediately. */
  readonly waiting: number
  /** Maximum size of the waiting items, bytes. */
  readonly waitingBytes: number
  /** Maximum time that an item waits for its batch to begin, ms. */
  readonly wait: number
}

/**
 * Returns one result for each item, in order.
 *
 * @param errors the errors because of which a larger batch was divided into these items.
 */
export type RunBatch<Item, Result> = (
  items: readonly Item[],
  errors: readonly unknown[],
) => Promise<readonly Result[]>

interface Entry<Item, Result> {
  readonly item: Item
  readonly key: string | undefined
  readonly rows: number
  readonly bytes: number
  readonly since: number
  /** The callers that await the result. */
  readonly callers: Caller<Result>[]
}

type Caller<Result> = Pick<PromiseWithResolvers<Result>, 'resolve' | 'reject'>

/**
 * Collects the items of a turn of the event loop and runs them together. A full batch begins at
 * once, so that the database works while the other requests of the turn are handled. While the
 * maximum number of batches is in flight, further items wait for the next batch.
 */
export class Batcher<Item, Result> {
  readonly #run: RunBatch<Item, Result>
  readonly #mayBeRowError: (error: unknown) => boolean
  readonly #limits: BatchLimits
  readonly #pace: Pace
  readonly #schedule: (begin: () => void) => void
  #waiting: Entry<Item, Result>[] = []
  /**
   * The callers of waiting items, by the keys of the items. It is replaced when no item waits,
   * because the same map would keep callers in memory until the next major collection: V8 links its
   * discarded hash tables to the later ones.
   */
  #callers = new Map<string, Caller<Result>[]>()
  #waitingRows = 0
  #waitingBytes = 0
  #inFlight = 0
  #isScheduled = false
  #begun = 0
  #timer: NodeJS.Timeout | undefined
  #expiry: NodeJS.Timeout | undefined
  #closed: PromiseWithResolvers<void> | undefined

  /**
   * @param mayBeRowError returns whether an error of a batch may be caused by one of its items.
   * Such a batch is divided until the error concerns a single item.
   * @param schedule runs a function at the end of the turn of the event loop.
   */
  constructor(
    limits: BatchLimits,
    pace: Pace,
    run: RunBatch<Item, Result>,
    mayBeRowError: (error: unknown) => boolean,
    schedule: (begin: () => void) => void = setImmediate,
  ) {
    this.#limits = limits
    this.#pace = pace
    this.#schedule = schedule
    this.#run = run
    this.#mayBeRowError = mayBeRowError
  }

  /** Number of items whose batch has not begun. */
  get waiting(): number {
    return this.#waiting.length
  }

  /**
   * Runs an item with others.
   *
   * @param bytes size of the item.
   * @param rows maximum number of rows that it changes or returns. An item with more rows than the
   * limit of a batch runs alone.
   * @param key identifies equal items. While one waits, the others do not run and share its result.
   * @throws Failure `unavailable` if too many items wait, if this one has waited too long, or after
   * {@link close}.
   */
  add(item: Item, bytes: number, rows = 1, key?: string): Promise<Result> {
    const equal = key === undefined ? undefined : this.#callers.get(key)
    if (equal !== undefined) return addCaller(equal)
    if (this.#closed !== undefined) {
      return Promise.reject(new Failure('unavailable', 'The database is closed.'))
    }
    const { waiting, waitingBytes } = this.#limits
    if (this.#waiting.length >= waiting || this.#waitingBytes + bytes > waitingBytes) {
      return Promise.reject(overloaded())
    }
    const callers: Caller<Result>[] = []
    this.#waiting.push({ item, key, rows, bytes, since: performance.now(), callers })
    if (key !== undefined) this.#callers.set(key, callers)
    this.#waitingRows += rows
    this.#waitingBytes += bytes
    if (this.#expiry === undefined) this.#expireIn(this.#limits.wait)
    const result = addCaller(callers)
    if (this.#timer === undefined || this.#isFull()) this.#scheduleBegin()
    return result
  }

  /** Rejects new items, and resolves when all others are settled. */
  close(): Promise<void> {
    this.#closed ??= Promise.withResolvers()
    if (this.#waiting.length === 0 && this.#inFlight === 0) this.#closed.resolve()
    return this.#closed.promise
  }

  /** Begins a full batch now, and others at the end of the turn, so that they contain all its items. */
  #scheduleBegin(): void {
    if (this.#inFlight >= this.#pace.inFlight) return
    if (this.#isFull()) {
      this.#begin()
      return
    }
    if (this.#isScheduled) return
    this.#isScheduled = true
    this.#schedule(() => {
      this.#isScheduled = false
      this.#begin()
    })
  }

  #begin(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.#rejectLate()
    while (this.#waiting.length > 0 && this.#inFlight < this.#pace.inFlight) {
      const now = performance.now()
      const early = this.#begun + this.#pace.spacing - now
      if (this.#inFlight > 0 && early > 0 && !this.#isFull()) {
        this.#timer = setTimeout(() => this.#begin(), early)
        break
      }
      const batch = this.#next()
      this.#begun = now
      this.#inFlight++
      void this.#settle(batch).then(() => {
        this.#inFlight--
        this.#scheduleBegin()
      })
    }
    if (this.#closed !== undefined) void this.close()
  }

  #isFull(): boolean {
    const { rows, bytes } = this.#limits
    return this.#waitingRows >= rows || this.#waitingBytes >= bytes
  }

  /** Takes the items of the next batch. */
  #next(): Entry<Item, Result>[] {
    const { rows, bytes } = this.#limits
    let filled = 0
    let size = 0
    return this.#take((entry, at) => {
      filled += entry.rows
      size += entry.bytes
      return at === 0 || (filled <= rows && size <= bytes)
    })
  }

  /** Rejects items after their maximum wait, even if all batches in flight stall. */
  #expireIn(ms: number): void {
    this.#expiry = setTimeout(() => {
      this.#expiry = undefined
      this.#rejectLate()
      const [first] = this.#waiting
      if (first) this.#expireIn(first.since + this.#limits.wait - performance.now())
      if (this.#closed !== undefined) void this.close()
    }, ms)
    this.#expiry.unref()
  }

  #rejectLate(): void {
    const oldest = performance.now() - this.#limits.wait
    for (const { callers } of this.#take(({ since }) => since < oldest)) {
      rejectAll(callers, overloaded())
    }
  }

  /** Removes the first waiting items, as long as they satisfy a condition, and returns them. */
  #take(isTaken: (entry: Entry<Item, Result>, at: number) => boolean): Entry<Item, Result>[] {
    const end = this.#waiting.findIndex((entry, at) => !isTaken(entry, at))
    const taken = this.#waiting.splice(0, end === -1 ? Infinity : end)
    const isEmpty = this.#waiting.length === 0
    if (isEmpty && this.#callers.size > 0) this.#callers = new Map()
    for (const { key, rows, bytes } of taken) {
      if (key !== undefined && !isEmpty) this.#callers.delete(key)
      this.#waitingRows -= rows
      this.#waitingBytes -= bytes
    }
    return taken
  }

  /** Runs a batch and settles its items. Never throws. */
  async #settle(
    batch: readonly Entry<Item, Result>[],
    errors: readonly unknown[] = [],
  ): Promise<void> {
    try {
      const begun = performance.now()
      const results = await this.#run(
        batch.map(({ item }) => item),
        errors,
      )
      this.#pace.record(performance.now() - begun)
      for (const [at, { callers }] of batch.entries()) {
        for (const { resolve } of callers) otherWork.run(() => resolve(results[at] as Result))
      }
    } catch (error) {
      if (batch.length === 1 || !this.#mayBeRowError(error)) {
        for (const { callers } of batch) rejectAll(callers, error)
        return
      }
      const half = batch.length >> 1
      const all = [...errors, error]
      await this.#settle(batch.slice(0, half), all)
      await this.#settle(batch.slice(half), all)
    }
  }
}

/** Returns the promise of a new caller. */
function addCaller<Result>(callers: Caller<Result>[]): Promise<Result> {
  return new Promise((resolve, reject) => callers.push({ resolve, reject }))
}

function rejectAll<Result>(callers: readonly Caller<Result>[], error: unknown): void {
  for (const { reject } of callers) reject(error)
}

const overloaded = () => new Failure('unavailable', 'The database is overloaded. Try again.')
