import { type CompiledQuery, type RawBuilder, sql } from 'kysely'
import type { CollectionRef } from '../../../storage/document-ref.ts'
import { databaseExists } from '../../../storage/sql/database-exists.ts'
import type { Store } from '../../../storage/store.ts'
import type { IndexDefinition } from '../../indexes/definition.ts'
import type { IndexedDocument } from '../../indexes/read/index-reader.ts'
import { entriesOf } from '../../indexes/write/entries.ts'
import type { Entry } from '../../indexes/write/write-entries.ts'
import { type IndexedWrites, idsOf, maintainedIds } from './indexed-writes.ts'

/** Returns the writes of a SQLite store. Each is a synchronous transaction. */
export function createAtomicWrites(
  { db }: Store,
  atomically: NonNullable<Store['atomically']>,
): IndexedWrites {
  const insertDocument = documentInsertion.compile(db)
  const insertEntries = byCount((count) =>
    sql`
      insert into index_entries (index_id, key, id, sole)
      values ${sql.join(Array(count).fill(entryValues))} on conflict do nothing`.compile(db),
  )
  return {
    async insert(where, document, indexes) {
      const entries = [...entriesOf(indexes, document)]
      try {
        return await atomically((run) => {
          const parameters = documentRow(where, document, indexes)
          const { numAffectedRows } = run(withParameters(insertDocument, parameters))
          if (numAffectedRows === 0n) return false
          const added = run(
            withParameters(insertEntries(entries.length), entries.flatMap(entryRow)),
          )
          if (added.numAffectedRows !== BigInt(entries.length)) throw new Excluded()
          return true
        })
      } catch (error) {
        if (error instanceof Excluded) return false
        throw error
      }
    },
  }
}

/** A unique index excludes a document. */
class Excluded extends Error {}

const documentInsertion = sql`
  insert into documents (database, collection, id, tag, body)
  select ${''}, ${''}, ${''}, ${''}, ${''}
  where ${databaseExists('')} and ${maintainedIds(sql`${''}`, sql`${''}`)} = ${''}
  on conflict do nothing`

/** Returns the parameters of {@link documentInsertion}. */
const documentRow = (
  { database, collection }: CollectionRef,
  { id, tag, body }: IndexedDocument,
  indexes: readonly IndexDefinition[],
) => [
  ...[database, collection, id, tag, body, database, database, database, collection],
  idsOf(indexes),
]

const entryValues: RawBuilder<unknown> = sql`(${0}, ${null}, ${''}, ${null})`

/** Returns the parameters of {@link entryValues}. */
const entryRow = ({ index, key, id, uniqueKey }: Entry) => [index.id, key, id, uniqueKey]

const withParameters = <R>(
  query: CompiledQuery<R>,
  parameters: readonly unknown[],
): CompiledQuery<R> => ({
  ...query,
  parameters,
})

/** Caches the value for each number of indexes. */
function byCount<T>(make: (count: number) => T): (count: number) => T {
  const made: T[] = []
  return (count) => {
    made[count] ??= make(count)
    return made[count] as T
  }
}
