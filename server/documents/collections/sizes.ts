import type { DocumentRepository } from '../repository/stored-documents.ts'

export interface CollectionSize {
  readonly name: string
  readonly documents: number
  /** Size of the documents as JSON in UTF-8. */
  readonly bytes: number
}

/** The size of a database at one time. */
export interface DatabaseSize {
  /** Time of the measurement, ms since 1970. */
  readonly measured: number
  /** Sorted by name. */
  readonly collections: readonly CollectionSize[]
}

/** Recent sizes of databases. Documents are counted in the background. */
export interface Sizes {
  /**
   * Returns the known sizes by the databases' ids; databases that were never measured are missing.
   * Outdated sizes are measured again; the call waits for that at most {@link MAX_WAIT}.
   */
  of(databases: readonly string[]): Promise<ReadonlyMap<string, DatabaseSize>>
  /** Stops after the current step. */
  stop(): Promise<void>
}

/**
 * How long a size stays valid, ms. A slow measurement stays valid for {@link REFRESH_FACTOR} times
 * its duration.
 */
export const MIN_REFRESH_INTERVAL = 1_000

/** Repeated measurements of a database take at most one twentieth of the time. */
const REFRESH_FACTOR = 20

/** Maximum time that a call waits for a measurement, ms. */
const MAX_WAIT = 200

/** Documents counted in one step, about a millisecond of work. */
export const MEASURE_BATCH = 1_000

/** Maximum number of cached databases; the oldest measurement is evicted first. */
const MAX_CACHED = 10_000

export interface SizesDeps {
  readonly repository: Pick<DocumentRepository, 'measure'>
  /** Returns ms since 1970. */
  readonly now: () => number
  /** Awaited between two steps, so that other work can run. */
  readonly pause: () => Promise<unknown>
  readonly onError: (error: unknown) => void
}

interface CachedSize extends DatabaseSize {
  /** Time until which the size is valid, ms since 1970. */
  readonly until: number
}

/** Returns the sizes of databases, measured on demand. */
export function createSizes({ repository, now, pause, onError }: SizesDeps): Sizes {
  const cache = new Map<string, CachedSize>()
  const requested = new Set<string>()
  let running: Promise<void> | undefined
  let stopped = false

  async function measure(database: string): Promise<void> {
    const begun = now()
    const sizes = new Map<string, CollectionSize>()
    let after = { collection: '', id: '' }
    while (!stopped) {
      const parts = await repository.measure(database, after, MEASURE_BATCH)
      for (const { name, documents, bytes, last } of parts) {
        const before = sizes.get(name)
        sizes.set(name, {
          name,
          documents: documents + (before?.documents ?? 0),
          bytes: bytes + (before?.bytes ?? 0),
        })
        after = { collection: name, id: last }
      }
      if (parts.reduce((sum, { documents }) => sum + documents, 0) < MEASURE_BATCH) {
        const measured = now()
        const until = measured + Math.max(MIN_REFRESH_INTERVAL, REFRESH_FACTOR * (measured - begun))
        const [oldest] = cache.keys()
        if (oldest !== undefined && cache.size >= MAX_CACHED) cache.delete(oldest)
        cache.delete(database)
        cache.set(database, { measured, until, collections: [...sizes.values()] })
        return
      }
      await pause()
    }
  }

  async function run(): Promise<void> {
    for (const database of requested) {
      if (stopped) return
      await measure(database).catch(onError)
      requested.delete(database)
      await pause()
    }
  }

  return {
    async of(databases) {
      const at = now()
      for (const each of databases) {
        if ((cache.get(each)?.until ?? 0) <= at) requested.add(each)
      }
      if (databases.some((each) => requested.has(each)) && !stopped) {
        running ??= run().finally(() => {
          running = undefined
        })
        await atMost(MAX_WAIT, running)
      }
      return new Map(
        databases.flatMap((each) => {
          const size = cache.get(each)
          return size === undefined ? [] : [[each, size]]
        }),
      )
    },
    async stop() {
      stopped = true
      await running
    },
  }
}

/** Resolves when `pending` settles, or after `ms` milliseconds. */
async function atMost(ms: number, pending: Promise<unknown>): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms)
  })
  await Promise.race([pending, late])
  clearTimeout(timer)
}
