import { sql } from 'kysely'
import type { DocumentRef } from '../../../storage/document-ref.ts'
import { databaseExists } from '../../../storage/sql/database-exists.ts'
import type { Store } from '../../../storage/store.ts'
import { isMaintained } from '../../indexes/write/collection-indexes.ts'
import type { DocumentState } from './indexed-writes.ts'

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
