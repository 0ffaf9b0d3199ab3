import { type CompiledQuery, type RawBuilder, sql } from 'kysely'
import type { CollectionRef, DocumentRef } from '../../../storage/document-ref.ts'
import { RowLocked } from '../../../storage/engine.ts'
import { databaseExists } from '../../../storage/sql/database-exists.ts'
import type { Store } from '../../../storage/store.ts'
import type { IndexDefinition } from '../../indexes/definition.ts'
import type { IndexedDocument } from '../../indexes/read/index-reader.ts'
import { type CollectionIndexes, isMaintained } from '../../indexes/write/collection-indexes.ts'
import { type Entry, entriesOf } from '../../indexes/write/entries.ts'

/**
 * Changes of single documents, one statement each. A change returns false, and is not made, if the
 * collection has an index, which it would have to maintain, or if the database was dropped.
 */
export interface SingleChanges {
  /** Stores a document, unless one with its id exists. */
  insert(ref: DocumentRef, tag: string, body: string): Promise<boolean>
  /** Replaces the state with a tag. */
  update(ref: DocumentRef, tag: string, next: DocumentState): Promise<boolean>
  /** Deletes the state with a tag. */
  delete(ref: DocumentRef, tag: string): Promise<boolean>
}

/** A state of a document. The tag identifies it. */
export type DocumentState = Pick<IndexedDocument, 'tag' | 'body'>

export const createSingleChanges = (store: Store): SingleChanges =>
  store.prepareChange === undefined ? createEach(store) : createBatched(store, store.prepareChange)

/** Returns a condition that a collection has no index that its writers maintain. */
const hasNoIndex = (database: RawText, collection: RawText) => sql<boolean>`not exists (
  select 1 from document_indexes where document_indexes.database = ${database}
  and document_indexes.collection = ${collection} and ${isMaintained})`

type RawText = string | ReturnType<typeof sql.raw<string>>

/** Returns changes of one statement each, compiled once with the conditions as parameters. */
function createEach({ db, prepare }: Store): SingleChanges {
  const isState = sql<boolean>`database = ${''} and collection = ${''} and id = ${''} and tag = ${''}`
  const isWritable = sql<boolean>`${databaseExists('')} and ${hasNoIndex('', '')}`
  const insert = prepare(
    sql`
      insert into documents (database, collection, id, tag, body)
      select ${''}, ${''}, ${''}, ${''}, ${''} where ${isWritable}
      on conflict do nothing`.compile(db),
  )
  const update = prepare(
    sql`
      update documents set tag = ${''}, body = ${''}
      where ${isState} and ${isWritable}`.compile(db),
  )
  const remove = prepare(sql`delete from documents where ${isState} and ${isWritable}`.compile(db))
  const isMade = ({ numAffectedRows = 0n }: Affected) => numAffectedRows !== 0n
  return {
    insert: ({ database, collection, id }, tag, body) =>
      insert(
        ...[database, collection, id, tag, body],
        ...[database, database, database, collection],
      ).then(isMade),
    update: ({ database, collection, id }, tag, next) =>
      update(
        ...[next.tag, next.body, database, collection, id, tag],
        ...[database, database, database, collection],
      ).then(isMade),
    delete: ({ database, collection, id }, tag) =>
      remove(...[database, collection, id, tag, database, database, database, collection]).then(
        isMade,
      ),
  }
}

interface Affected {
  readonly numAffectedRows?: bigint
}

/** Returns changes that share a statement with those of concurrent requests. */
function createBatched(
  { db }: Store,
  prepareChange: NonNullable<Store['prepareChange']>,
): SingleChanges {
  const database = sql.raw<string>('input.database')
  const isWritable = sql`${databaseExists(database)}
    and ${hasNoIndex(database, sql.raw('input.collection'))}`.compile(db).sql
  const isState = `documents.database = input.database and documents.collection = input.collection
    and documents.id = input.id and documents.tag = input.tag`
  const state = ['database', 'collection', 'id', 'tag']
  const insert = prepareChange({
    name: 'insert-document',
    columns: [...state, 'body'],
    key: 'tag',
    sql: (input) => `
      insert into documents (database, collection, id, tag, body)
      select database, collection, id, tag, body from ${input} where ${isWritable}
      on conflict do nothing returning tag`,
  })
  const update = prepareChange({
    name: 'update-document',
    columns: [...state, 'next', 'body'],
    key: 'next',
    sql: (input) => `
      update documents set tag = input.next, body = input.body
      from ${input} where ${isState} and ${isWritable} returning documents.tag`,
  })
  const remove = prepareChange({
    name: 'delete-document',
    columns: state,
    key: 'tag',
    sql: (input) => `
      delete from documents using ${input} where ${isState} and ${isWritable}
      returning documents.tag`,
  })
  return {
    insert: ({ database, collection, id }, tag, body) =>
      insert(database, collection, id, tag, body),
    update: ({ database, collection, id }, tag, next) =>
      update(database, collection, id, tag, next.tag, next.body),
    delete: ({ database, collection, id }, tag) => remove(database, collection, id, tag),
  }
}

/**
 * Writes single documents of collections whose indexes are known, with their entries. A write returns
 * whether it was made. It is not made if the collection has other indexes by now, if a unique
 * index excludes the document, or if the database was dropped.
 */
export interface IndexedWrites {
  /**
   * Stores a new document, unless one with its id exists.
   *
   * @param isStored looks up whether the document was stored, if the database did not confirm it.
   */
  insert(
    where: CollectionRef,
    document: IndexedDocument,
    indexes: readonly IndexDefinition[],
    isStored: () => Promise<boolean>,
  ): Promise<boolean>
  /** Replaces a state. The indexes are ready. PostgreSQL only. */
  update?(
    ref: DocumentRef,
    old: DocumentState,
    next: DocumentState,
    indexes: readonly IndexDefinition[],
  ): Promise<boolean>
  /** Deletes a state. The indexes are ready. PostgreSQL only. */
  delete?(
    ref: DocumentRef,
    old: DocumentState,
    indexes: readonly IndexDefinition[],
  ): Promise<boolean>
}

/** How a statement ended: `locked` if it would have to wait for the lock of a longer transaction. */
export type Outcome = 'made' | 'not made' | 'locked'

export async function outcomeOf(change: Promise<boolean>): Promise<Outcome> {
  try {
    return (await change) ? 'made' : 'not made'
  } catch (error) {
    if (error instanceof RowLocked) return 'locked'
    throw error
  }
}

/** Returns the ids of indexes, separated by commas, to compare with {@link maintainedIds}. */
export const idsOf = (indexes: readonly IndexDefinition[]): string =>
  indexes.map(({ id }) => id).join()

/** Returns the ids of the indexes that writers of a collection maintain, separated by commas. */
export const maintainedIds = (database: RawBuilder<string>, collection: RawBuilder<string>) =>
  sql<string>`coalesce((
    select string_agg(cast(id as text), ',' order by id) from document_indexes
    where document_indexes.database = ${database} and document_indexes.collection = ${collection}
    and ${isMaintained}), '')`

/** Maximum number of collections whose indexes are kept. A full cache is cleared. */
const MAX_CACHED = 10_000

/**
 * The indexes that collections had when a document was last written. Statements check that they are
 * current. A collection without indexes has no entry.
 */
export class IndexedCollections {
  readonly #indexes = new Map<string, readonly IndexDefinition[]>()
  #cleared = 0

  get({ database, collection }: CollectionRef): readonly IndexDefinition[] | undefined {
    return this.#indexes.size === 0 ? undefined : this.#indexes.get(`${database}/${collection}`)
  }

  /** Keeps the indexes of a collection that `open` returns. */
  async keep<T extends Pick<CollectionIndexes, 'definitions'>>(
    where: CollectionRef,
    open: () => Promise<T | undefined>,
  ): Promise<T | undefined> {
    const since = this.#cleared
    const indexes = await open()
    // Do not keep what was read before the indexes were forgotten.
    if (since === this.#cleared) this.#set(where, indexes?.definitions)
    return indexes
  }

  clear(): void {
    this.#cleared++
    this.#indexes.clear()
  }

  #set({ database, collection }: CollectionRef, indexes: readonly IndexDefinition[] | undefined) {
    const key = `${database}/${collection}`
    if (indexes !== undefined) {
      if (this.#indexes.size >= MAX_CACHED) this.#indexes.clear()
      this.#indexes.set(key, indexes)
    } else if (this.#indexes.size > 0) this.#indexes.delete(key)
  }
}

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
