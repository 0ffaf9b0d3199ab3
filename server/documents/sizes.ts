import type { DocumentRepository } from './repository.ts'

/** How much a collection holds. */
export interface CollectionSize {
  readonly name: string
  readonly documents: number
  /** Their JSON in UTF-8. */
  readonly bytes: number
}

/** How much a database held when it was measured. */
export interface DatabaseSize {
  /** When, ms since 1970. */
  readonly measured: number
  /** By name. */
  readonly collections: readonly CollectionSize[]
}

/** How much databases hold, as it was some seconds ago: documents are counted one by one, beside all else. */
export interface Sizes {
  /**
   * What is known of databases, by their ids; those that have not been measured yet are missing.
   * What is older than {@link FRESH} is measured anew, and waited for {@link PATIENCE} at most.
   */
  of(databases: readonly string[]): Promise<ReadonlyMap<string, DatabaseSize>>
  /** Ends after the step that is under way. */
  stop(): Promise<void>
}

/** So long a measure counts as new, ms; one that took long counts {@link SHARE} times as long as it took. */
export const FRESH = 1_000

/** One twentieth of the time at most goes into measuring a database again and again. */
const SHARE = 20

/** So long an answer waits for what is being measured, ms. */
export const PATIENCE = 200

/** So many documents are counted in one step: about a millisecond of work. */
export const STEP = 1_000

/** So many databases are remembered; then what was measured first is forgotten. */
const MOST = 10_000

/** What {@link createSizes} needs. */
export interface SizesDeps {
  readonly repository: Pick<DocumentRepository, 'measure'>
  /** ms since 1970. */
  readonly now: () => number
  /** Awaited between two steps, for others to have their turn. */
  readonly pause: () => Promise<unknown>
  readonly onError: (error: unknown) => void
}

interface Known extends DatabaseSize {
  /** Until when it counts as new. */
  readonly until: number
}

/** Makes {@link Sizes}. Nothing is measured that nobody asks for. */
export function createSizes({ repository, now, pause, onError }: SizesDeps): Sizes {
  const known = new Map<string, Known>()
  const wanted = new Set<string>()
  let running: Promise<void> | undefined
  let stopped = false

  async function measure(database: string): Promise<void> {
    const begun = now()
    const sizes = new Map<string, CollectionSize>()
    let after = { collection: '', id: '' }
    while (!stopped) {
      const parts = await repository.measure(database, after, STEP)
      for (const { name, documents, bytes, last } of parts) {
        const before = sizes.get(name)
        sizes.set(name, {
          name,
          documents: documents + (before?.documents ?? 0),
          bytes: bytes + (before?.bytes ?? 0),
        })
        after = { collection: name, id: last }
      }
      if (parts.reduce((sum, { documents }) => sum + documents, 0) < STEP) {
        const measured = now()
        const until = measured + Math.max(FRESH, SHARE * (measured - begun))
        const [oldest] = known.keys()
        if (oldest !== undefined && known.size >= MOST) known.delete(oldest)
        known.delete(database)
        known.set(database, { measured, until, collections: [...sizes.values()] })
        return
      }
      await pause()
    }
  }

  async function run(): Promise<void> {
    for (const database of wanted) {
      if (stopped) return
      await measure(database).catch(onError)
      wanted.delete(database)
      await pause()
    }
  }

  return {
    async of(databases) {
      const at = now()
      for (const each of databases) {
        if ((known.get(each)?.until ?? 0) <= at) wanted.add(each)
      }
      if (databases.some((each) => wanted.has(each)) && !stopped) {
        running ??= run().finally(() => {
          running = undefined
        })
        await atMost(PATIENCE, running)
      }
      return new Map(
        databases.flatMap((each) => {
          const size = known.get(each)
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

/** Resolves when something has ended, or after that many ms. */
async function atMost(ms: number, pending: Promise<unknown>): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms)
  })
  await Promise.race([pending, late])
  clearTimeout(timer)
}
