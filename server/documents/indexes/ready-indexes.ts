import type { CollectionRef } from '../../storage/document-ref.ts'
import type { IndexDefinition } from './definition.ts'
import type { IndexReader } from './read/index-reader.ts'

/** Maximum number of collections in the cache. */
const MAX_CACHED = 10_000

/** The ready indexes of collections. */
export interface ReadyIndexes {
  /**
   * Returns the indexes as they were read last, which may have changed since. Always undefined on
   * SQLite, where reading them takes no round trip.
   */
  cached(where: CollectionRef): readonly IndexDefinition[] | undefined
  read(where: CollectionRef): readonly IndexDefinition[] | Promise<readonly IndexDefinition[]>
  /**
   * Clears the cache. Call it after another process has changed the database. A restored backup may
   * use the id of a cached index for another one.
   */
  clear(): void
}

export function createReadyIndexes(reader: Pick<IndexReader, 'ready'>): ReadyIndexes {
  const lists = new Map<string, readonly IndexDefinition[]>()
  let cleared = 0
  return {
    cached: (where) => lists.get(keyOf(where)),
    read(where) {
      const since = cleared
      const reading = reader.ready(where)
      if (!(reading instanceof Promise)) return reading
      return reading.then((ready) => {
        // Do not cache what was read before the cache was cleared.
        if (since !== cleared) return ready
        if (lists.size >= MAX_CACHED) lists.clear()
        lists.set(keyOf(where), ready)
        return ready
      })
    },
    clear() {
      cleared++
      lists.clear()
    },
  }
}

const keyOf = ({ database, collection }: CollectionRef) => `${database}/${collection}`
