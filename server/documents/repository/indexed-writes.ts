import { type CompiledQuery, type RawBuilder, sql } from 'kysely'
import { invariant } from '../../contract/invariant.ts'
import { resolveOutcome } from '../../storage/availability/resolve-outcome.ts'
import { databaseExists } from '../../storage/database-exists.ts'
import type { CollectionRef } from '../../storage/document-ref.ts'
import type { Store } from '../../storage/store.ts'
import type { IndexDefinition } from '../indexes/definition.ts'
import { type Entry, entriesOf, isMaintained } from '../indexes/entries.ts'
import type { IndexedDocument } from '../indexes/read/index-reader.ts'

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

/** Returns the writes of a store. */
export function createIndexedWrites(store: Store): IndexedWrites {
  const { prepareChange, atomically } = store
  if (prepareChange !== undefined) return createBatched(store, prepareChange)
  invariant(atomically, 'a store without batches runs statements synchronously')
  return createAtomic(store, atomically)
}

/** Returns writes that are statements together with others. */
function createBatched(
  { db }: Store,
  prepareChange: NonNullable<Store['prepareChange']>,
): IndexedWrites {
  const database = sql.raw<string>('document.database')
  const exists = databaseExists(database).compile(db).sql
  const maintained = maintainedIds(database, sql.raw('document.collection')).compile(db).sql
  const insert = prepareChange({
    name: 'insert-indexed-document',
    columns: ['database', 'collection', 'id', 'tag', 'body', 'indexes', 'keys', 'soles'],
    key: 'tag',
    // The search for duplicates in unique indexes avoids errors, which divide the batch. Duplicates
    // of other transactions, and in the batch, are errors. Joins would be planned from statistics.
    sql: (input) => `
      with document as (
        select database, collection, id, tag, body, indexes,
          string_to_array(indexes, ',')::bigint[] as index_ids, keys::bytea[] as keys, soles::bytea[] as soles
        from ${input}
      ), stored as (
        insert into documents (database, collection, id, tag, body)
        select database, collection, id, tag, body from document
        where ${exists} and ${maintained} = document.indexes and not exists (
          select 1 from unnest(document.index_ids, document.soles) as entry (index_id, sole)
          where (
            select true from index_entries as other
            where other.index_id = entry.index_id and other.sole = entry.sole))
        on conflict do nothing returning tag
      ), added as (
        insert into index_entries (index_id, key, id, sole)
        select entry.index_id, entry.key, document.id, entry.sole
        from document, unnest(document.index_ids, document.keys, document.soles)
          as entry (index_id, key, sole)
        where (document.tag in (select tag from stored)) is true
        order by entry.index_id, coalesce(entry.sole, entry.key)
      )
      select tag from stored`,
  })
  return {
    insert({ database, collection }, document, indexes, isStored) {
      const { id, tag, body } = document
      const entries = entriesOf(indexes, document)
      const values = [
        idsOf(indexes),
        toArray(entries.map(({ key }) => toBytea(key))),
        toArray(entries.map(({ uniqueKey }) => (uniqueKey === null ? null : toBytea(uniqueKey)))),
      ]
      return resolveOutcome(
        insert(database, collection, id, tag, body, ...values),
        async () => (await isStored()) || undefined,
      )
    },
  }
}

const idsOf = (indexes: readonly IndexDefinition[]) => indexes.map(({ id }) => id).join()

/** Returns an array of PostgreSQL as text. No value needs quotes. */
const toArray = (values: readonly (string | null)[]) =>
  `{${values.map((value) => value ?? 'NULL').join()}}`

/** Returns bytes as text in an array, where the backslash of `\x` is escaped. */
const toBytea = (bytes: Buffer) => `\\\\x${bytes.toString('hex')}`

/** Returns writes that are synchronous transactions. */
function createAtomic({ db }: Store, atomically: NonNullable<Store['atomically']>): IndexedWrites {
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

/** Returns the ids of the indexes that writers of a collection maintain, separated by commas. */
const maintainedIds = (database: RawBuilder<string>, collection: RawBuilder<string>) =>
  sql<string>`coalesce((
    select string_agg(cast(id as text), ',' order by id) from document_indexes
    where document_indexes.database = ${database} and document_indexes.collection = ${collection}
    and ${isMaintained}), '')`

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

const anEntry: RawBuilder<unknown> = sql`(${0}, ${null}, ${''}, ${null})`

/** Returns the parameters of {@link anEntry}. */
const entryRow = ({ index, key, id, uniqueKey }: Entry) => [index.id, key, id, uniqueKey]

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
