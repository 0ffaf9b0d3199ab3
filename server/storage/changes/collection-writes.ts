import type { CollectionRef } from '../document-ref.ts'
import type { IdRange } from '../sql/id-range.ts'

/** A document after a change is applied. */
export interface ChangedDocument {
  readonly id: string
  readonly tag: string
  readonly body: string
}

/**
 * A committed change of many documents that is not yet written to all of them
 * (docs/decisions/0020-redo-log-for-large-changes.md). Readers combine it with the stored
 * documents. Before a document is written, the change is applied to it.
 */
export interface UnappliedChange {
  readonly creates: boolean
  /**
   * Returns the document if it is not written yet, `deleted` if it is not deleted yet, or undefined
   * if the stored document is current.
   */
  read(id: string): Promise<ChangedDocument | 'deleted' | undefined>
  /** Returns the first documents of a range after the change, at most `limit`. */
  list(range: IdRange, limit: number): Promise<ChangedDocument[]>
  /**
   * Returns the sizes of the first documents of a range, at most `limit`, in bytes. Reads only a
   * part of the range, which may have no documents after the change: `end` is the last id of the
   * part; undefined if it is the whole range.
   */
  sizes(
    range: IdRange,
    limit: number,
  ): Promise<{
    readonly rows: readonly { readonly id: string; readonly bytes: number }[]
    readonly end: string | undefined
  }>
  /** Returns whether the collection has no documents after the change. */
  isEmpty(): Promise<boolean>
  /** Applies the change to these documents, in transactions of limited size. */
  apply(ids: readonly string[]): Promise<void>
}

/** Writes in progress in one collection. */
interface Entry {
  /**
   * Number of requests that are writing. `turns` counts the jobs that have a turn or wait for one.
   */
  writers: number
  turns: number
  lastTurn: Promise<unknown>
  /** Resolves when requests may write again; undefined if they may write now. */
  closed: PromiseWithResolvers<void> | undefined
  /** Called when the last writing request ends. */
  drained: (() => void) | undefined
  /** Ids of the documents written by requests since a job called `watch`. */
  written: Set<string> | undefined
  unapplied:
    | {
        readonly change: UnappliedChange
        readonly applied: PromiseWithResolvers<void>
        /** Rejected when a step of the change fails, and then replaced. */
        failed: PromiseWithResolvers<never>
      }
    | undefined
}

/** The turn of a job to change a collection. Only one job has a turn at a time. */
export interface Turn {
  /** Starts to collect in {@link written} the ids of documents that requests write. */
  watch(): void
  readonly written: Set<string>
  /** Blocks new writes by requests, and waits for writes in progress. */
  close(): Promise<void>
  /** Announces a committed change. Must be called after {@link close}, while requests wait. */
  commit(change: UnappliedChange): void
}

/**
 * Coordinates writes by requests with jobs that change many documents of a collection. SQLite only,
 * where a single process uses the store. Reads have no overhead unless a change is unapplied.
 */
export class CollectionWrites {
  readonly #entries = new Map<string, Entry>()
  /** Errors of steps of unapplied changes. */
  readonly #failures = new WeakSet<object>()
  #unapplied = 0

  /** Returns the change of a collection that is not yet applied to all documents, if any. */
  unapplied(where: CollectionRef): UnappliedChange | undefined {
    if (this.#unapplied === 0) return undefined
    return this.#entries.get(keyOf(where))?.unapplied?.change
  }

  /** Returns the collections of a database with an unapplied change. */
  unappliedIn(database: string): { collection: string; change: UnappliedChange }[] {
    if (this.#unapplied === 0) return []
    const prefix = `${database}/`
    return [...this.#entries].flatMap(([key, { unapplied }]) => {
      if (unapplied === undefined || !key.startsWith(prefix)) return []
      return { collection: key.slice(prefix.length), change: unapplied.change }
    })
  }

  /** Returns whether a request can write now, and needs no unapplied change to be applied first. */
  isWritable(where: CollectionRef): boolean {
    const entry = this.#entries.get(keyOf(where))
    return entry?.closed === undefined && entry?.unapplied === undefined
  }

  /**
   * Resolves when a collection {@link isWritable}.
   *
   * @throws the reason of the signal if it is aborted before; the error of a step of the change,
   * which is then repeated
   */
  async whenApplied(where: CollectionRef, signal?: AbortSignal): Promise<void> {
    for (;;) {
      const { closed, unapplied } = this.#entries.get(keyOf(where)) ?? {}
      if (unapplied !== undefined) {
        await untilAborted([unapplied.applied.promise, unapplied.failed.promise], signal)
      } else if (closed !== undefined) await untilAborted([closed.promise], signal)
      else return
    }
  }

  /**
   * Returns whether a job is changing a collection, or has a change that is not yet applied. An
   * empty name stands for all collections of the database.
   */
  isBusy(where: CollectionRef): boolean {
    const begin = keyOf(where)
    return [...this.#entries].some(([key, { turns, unapplied }]) => {
      const isSelected = where.collection === '' ? key.startsWith(begin) : key === begin
      return isSelected && (turns > 0 || unapplied !== undefined)
    })
  }

  /** Runs the write of a request to these documents of a collection. */
  async write<T>(where: CollectionRef, ids: readonly string[], work: () => Promise<T>): Promise<T> {
    const key = keyOf(where)
    let entry = this.#entry(key)
    while (entry.closed !== undefined) {
      await entry.closed.promise
      entry = this.#entry(key)
    }
    entry.writers++
    try {
      if (entry.unapplied !== undefined) await entry.unapplied.change.apply(ids)
      return await work()
    } finally {
      entry.writers--
      for (const id of entry.written === undefined ? [] : ids) entry.written?.add(id)
      if (entry.writers === 0) entry.drained?.()
      this.#tidy(key, entry)
    }
  }

  /**
   * Runs the change of a job after the changes of earlier jobs are applied.
   *
   * @throws the reason of the signal if it is aborted before
   */
  async turn<T>(
    where: CollectionRef,
    work: (turn: Turn) => Promise<T>,
    signal?: AbortSignal,
  ): Promise<T> {
    const key = keyOf(where)
    const entry = this.#entry(key)
    const before = entry.lastTurn
    const { promise, resolve } = Promise.withResolvers<unknown>()
    entry.lastTurn = promise
    entry.turns++
    try {
      await untilAborted([before], signal)
      if (entry.unapplied !== undefined) {
        await untilAborted([entry.unapplied.applied.promise], signal)
      }
      return await this.#run(entry, work)
    } finally {
      entry.turns--
      // A later job still waits for the earlier ones if this one did not.
      resolve(before)
      this.#tidy(key, entry)
    }
  }

  /**
   * Announces a change that was committed before this process started, or replaces an announced
   * change.
   */
  restore(where: CollectionRef, change: UnappliedChange): void {
    this.#announce(this.#entry(keyOf(where)), change)
  }

  /**
   * Must be called when the change of a collection is applied to all documents, or is abandoned.
   */
  applied(where: CollectionRef): void {
    const key = keyOf(where)
    const entry = this.#entries.get(key)
    if (entry?.unapplied === undefined) return
    entry.unapplied.applied.resolve()
    entry.unapplied = undefined
    this.#unapplied--
    this.#tidy(key, entry)
  }

  /** Must be called when a step of a change fails. Its waiters get the error. */
  failed(where: CollectionRef, error: unknown): void {
    const unapplied = this.#entries.get(keyOf(where))?.unapplied
    if (unapplied === undefined) return
    if (error instanceof Error) this.#failures.add(error)
    unapplied.failed.reject(error)
    unapplied.failed = pendingFailure()
  }

  /** Returns whether an error is that of a step of a change, not of those who wait for it. */
  isFailureOfChange(error: unknown): boolean {
    return error instanceof Error && this.#failures.has(error)
  }

  async #run<T>(entry: Entry, work: (turn: Turn) => Promise<T>): Promise<T> {
    try {
      return await work(this.#turnOf(entry))
    } finally {
      entry.written = undefined
      entry.closed?.resolve()
      entry.closed = undefined
    }
  }

  #turnOf(entry: Entry): Turn {
    const written = new Set<string>()
    return {
      written,
      watch() {
        entry.written = written
      },
      async close() {
        entry.closed = Promise.withResolvers()
        if (entry.writers === 0) return
        await new Promise<void>((resolve) => {
          entry.drained = resolve
        })
        entry.drained = undefined
      },
      commit: (change) => this.#announce(entry, change),
    }
  }

  #announce(entry: Entry, change: UnappliedChange): void {
    if (entry.unapplied === undefined) this.#unapplied++
    const applied = entry.unapplied?.applied ?? Promise.withResolvers<void>()
    const failed = entry.unapplied?.failed ?? pendingFailure()
    entry.unapplied = { change, applied, failed }
  }

  #entry(key: string): Entry {
    const existing = this.#entries.get(key)
    if (existing !== undefined) return existing
    const entry: Entry = {
      writers: 0,
      turns: 0,
      lastTurn: NONE,
      closed: undefined,
      drained: undefined,
      written: undefined,
      unapplied: undefined,
    }
    this.#entries.set(key, entry)
    return entry
  }

  #tidy(key: string, entry: Entry): void {
    if (entry.writers === 0 && entry.turns === 0 && entry.unapplied === undefined) {
      this.#entries.delete(key)
    }
  }
}

const NONE = Promise.resolve()

/** Resolves with the first of some promises. @throws the reason of the signal if it is aborted */
async function untilAborted(
  promises: readonly Promise<unknown>[],
  signal: AbortSignal | undefined,
): Promise<void> {
  const aborted = Promise.withResolvers<never>()
  const abort = () => aborted.reject(signal?.reason)
  signal?.addEventListener('abort', abort, { once: true })
  if (signal?.aborted) abort()
  try {
    await Promise.race([...promises, aborted.promise])
  } finally {
    signal?.removeEventListener('abort', abort)
  }
}

/** Returns a promise that can be rejected although nothing awaits it. */
function pendingFailure(): PromiseWithResolvers<never> {
  const failure = Promise.withResolvers<never>()
  failure.promise.catch(() => {})
  return failure
}

/** Database ids and collection names contain no slash. */
const keyOf = ({ database, collection }: CollectionRef) => `${database}/${collection}`
