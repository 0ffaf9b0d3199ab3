import type { CollectionRef } from '../../storage/document-ref.ts'
import type { IndexDefinition } from './definition.ts'
import type { IndexReader } from './read/index-reader.ts'

/** Maximum number of collections whose indexes are remembered. */
const MAX_REMEMBERED = 10_000

/** The ready indexes of collections. */
export interface ReadyIndexes {
  /**
   * Returns the indexes that were read last, if reading them takes a round trip. They may have
   * changed since.
   */
  remembered(where: CollectionRef): readonly IndexDefinition[] | undefined
  read(where: CollectionRef): readonly IndexDefinition[] | Promise<readonly IndexDefinition[]>
  /**
   * Forgets all collections after another process has changed the database. A restored backup may
   * use the id of a remembered index for another one.
   */
  clear(): void
}

export function createReadyIndexes(reader: Pick<IndexReader, 'ready'>): ReadyIndexes {
  const lists = new Map<string, readonly IndexDefinition[]>()
  let cleared = 0
  return {
    remembered: (where) => lists.get(keyOf(where)),
    read(where) {
      const since = cleared
      const reading = reader.ready(where)
      if (!(reading instanceof Promise)) return reading
      return reading.then((ready) => {
        // Indexes read before a change must not be remembered after it.
        if (since !== cleared) return ready
        if (lists.size >= MAX_REMEMBERED) lists.clear()
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
