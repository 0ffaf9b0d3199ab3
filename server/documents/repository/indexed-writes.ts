import { type CompiledQuery, type RawBuilder, sql } from 'kysely'
import { systemCode } from '../../failure.ts'
import { resolveOutcome } from '../../storage/availability/resolve-outcome.ts'
import { databaseExists } from '../../storage/database-exists.ts'
import type { CollectionRef } from '../../storage/document-ref.ts'
import type { Store } from '../../storage/open.ts'
import type { IndexDefinition } from '../indexes/definition.ts'
import { type Entry, entriesOf, isMaintained } from '../indexes/entries.ts'
import type { IndexedDocument } from '../indexes/read/index-reader.ts'

/** SQLSTATE of a row that exists already. */
const UNIQUE_VIOLATION = '23505'

/** Writes single documents of collections whose indexes are known, with their entries. */
export interface IndexedWrites {
  /**
   * Stores a new document; returns whether it did. It does not if the collection has other indexes
   * by now, if the document exists, or if a unique index excludes it.
   *
   * @param isStored looks up whether the document was stored, if the database did not confirm it.
   */
  insert(
    where: CollectionRef,
    document: IndexedDocument,
    indexes: readonly IndexDefinition[],
    isStored: () => Promise<boolean>,
  ): Promise<boolean>
}

/** Returns the writes of a store: one statement on PostgreSQL, a synchronous transaction on SQLite. */
export function createIndexedWrites({ db, prepare, atomically }: Store): IndexedWrites {
  if (atomically === undefined) {
    const insertWith = byCount((count) => {
      const insertion = sql`
        with stored as (${documentInsertion} returning id)
        insert into index_entries (index_id, key, id, sole)
        select entry.index_id, entry.key, stored.id, entry.sole
        from stored, (values ${sql.join(Array(count).fill(typedEntry))})
          as entry (index_id, key, sole)
        order by entry.index_id`
      return prepare(insertion.compile(db))
    })
    return {
      async insert(where, document, indexes, isStored) {
        const rows = entriesOf(indexes, document).flatMap(({ index, key, sole }) => [
          ...[index.id, key, sole],
        ])
        try {
          return await resolveOutcome(
            insertWith(indexes.length)(...documentRow(where, document, indexes), ...rows).then(
              ({ numAffectedRows }) => numAffectedRows !== 0n,
            ),
            async () => (await isStored()) || undefined,
          )
        } catch (error) {
          if (systemCode(error) === UNIQUE_VIOLATION) return false
          throw error
        }
      },
    }
  }
  const insertDocument = documentInsertion.compile(db)
  const insertEntries = byCount((count) =>
    sql`
      insert into index_entries (index_id, key, id, sole)
      values ${sql.join(Array(count).fill(anEntry))} on conflict do nothing`.compile(db),
  )
  return {
    async insert(where, document, indexes) {
      const entries = entriesOf(indexes, document)
      try {
        return await atomically((run) => {
          const parameters = documentRow(where, document, indexes)
          const { numAffectedRows } = run(given(insertDocument, parameters))
          if (numAffectedRows === 0n) return false
          const added = run(given(insertEntries(entries.length), entries.flatMap(entryRow)))
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

/** The ids of the indexes that writers of a collection maintain, separated by commas. */
const maintainedIds = sql<string>`coalesce((
  select string_agg(cast(id as text), ',' order by id) from document_indexes
  where document_indexes.database = ${''} and document_indexes.collection = ${''}
  and ${isMaintained}), '')`

const documentInsertion = sql`
  insert into documents (database, collection, id, tag, body)
  select ${''}, ${''}, ${''}, ${''}, ${''}
  where ${databaseExists('')} and ${maintainedIds} = ${''}
  on conflict do nothing`

/** Returns the parameters of {@link documentInsertion}. */
const documentRow = (
  { database, collection }: CollectionRef,
  { id, tag, body }: IndexedDocument,
  indexes: readonly IndexDefinition[],
) => [
  ...[database, collection, id, tag, body, database, database, database, collection],
  indexes.map((index) => index.id).join(),
]

const anEntry: RawBuilder<unknown> = sql`(${0}, ${null}, ${''}, ${null})`
const typedEntry: RawBuilder<unknown> = sql`(
  cast(${0} as bigint), cast(${null} as bytea), cast(${null} as bytea))`

/** Returns the parameters of {@link anEntry}. */
const entryRow = ({ index, key, id, sole }: Entry) => [index.id, key, id, sole]

const given = <R>(query: CompiledQuery<R>, parameters: readonly unknown[]): CompiledQuery<R> => ({
  ...query,
  parameters,
})

/** Keeps the value for each number of indexes. */
function byCount<T>(make: (count: number) => T): (count: number) => T {
  const made: T[] = []
  return (count) => {
    made[count] ??= make(count)
    return made[count] as T
  }
}

/**
 * The indexes that collections had when a document was last written. Statements check that they are
 * current. A collection without indexes has no entry.
 */
export class IndexedCollections {
  readonly #indexes = new Map<string, readonly IndexDefinition[]>()

  get({ database, collection }: CollectionRef): readonly IndexDefinition[] | undefined {
    return this.#indexes.size === 0 ? undefined : this.#indexes.get(`${database}/${collection}`)
  }

  set({ database, collection }: CollectionRef, indexes: readonly IndexDefinition[] | undefined) {
    const key = `${database}/${collection}`
    if (indexes !== undefined) this.#indexes.set(key, indexes)
    else if (this.#indexes.size > 0) this.#indexes.delete(key)
  }
}
