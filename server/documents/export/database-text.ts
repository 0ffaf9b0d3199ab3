import { sql } from 'kysely'
import * as z from 'zod/mini'
import { nextTurn } from '../../concurrency/turns.ts'
import { EXPORT_VERSION } from '../../contract/transfer.ts'
import type { Queries } from '../../storage/changes/transactions.ts'
import type { CollectionRef } from '../../storage/document-ref.ts'
import { parseJsonColumn } from '../../storage/sql/parse-column.ts'
import type { SnapshotReader } from './snapshot-reader.ts'

export interface DatabaseTextDeps {
  /** Compiles queries. */
  readonly db: Queries
  readonly reader: SnapshotReader
  /** Throws if the export must end. */
  readonly check: () => void
}

/**
 * Returns the text of a database export, in parts: a head, the collections in order, each followed
 * by its documents, and an end with their counts (`contract/transfer.ts`).
 *
 * @param database its id and its name.
 */
export async function* databaseText(
  { db, reader, check }: DatabaseTextDeps,
  database: { readonly id: string; readonly name: string },
): AsyncGenerator<string, void> {
  const describe = describeCollections(db, reader)
  let collections = 0
  let documents = 0
  yield `${JSON.stringify({ gatehouse: EXPORT_VERSION, database: database.name })}\n`
  for (let name = await describe.next(database.id, ''); name !== undefined; ) {
    const where = { database: database.id, collection: name }
    collections++
    yield await describe.line(where)
    check()
    for await (const some of reader.read(where, {})) {
      documents += some.length
      yield some.map(({ body }) => `{"document":${body}}\n`).join('')
      await nextTurn()
      check()
    }
    name = await describe.next(database.id, name)
  }
  yield `${JSON.stringify({ end: { collections, documents } })}\n`
}

/** Returns queries for the collections that have documents, a schema or indexes. */
function describeCollections(db: Queries, { prepareRead }: SnapshotReader) {
  const firstIn = (table: string, condition = sql``) => sql`
    select * from (
      select collection from ${sql.table(table)}
      where database = ${''} and collection > ${''} ${condition}
      order by collection limit 1
    ) as ${sql.ref(`of_${table}`)}`
  const isKept = sql`and state <> 'dropped'`
  const next = prepareRead(
    sql<{ collection: string }>`
      ${firstIn('documents')} union ${firstIn('schemas')} union
      ${firstIn('document_indexes', isKept)} order by collection limit 1`.compile(db),
  )
  const schema = prepareRead(
    sql<{ body: string }>`
      select body from schemas where database = ${''} and collection = ${''}`.compile(db),
  )
  const indexes = prepareRead(
    sql<{ name: string; fields: string; is_unique: number }>`
      select name, fields, is_unique from document_indexes
      where database = ${''} and collection = ${''} ${isKept} order by name`.compile(db),
  )
  return {
    /** Returns the name of the collection after another one. */
    async next(database: string, after: string): Promise<string | undefined> {
      const position = [database, after]
      return (await next(...position, ...position, ...position)).rows[0]?.collection
    },
    async line({ database, collection }: CollectionRef): Promise<string> {
      const text = (await schema(database, collection)).rows[0]?.body ?? 'null'
      const { rows } = await indexes(database, collection)
      const list = rows.map(({ name, fields, is_unique }) => ({
        name,
        fields: parseJsonColumn(z.array(z.string()), 'document_indexes.fields', fields),
        unique: is_unique === 1,
      }))
      const quoted = JSON.stringify(collection)
      return `{"collection":${quoted},"schema":${text},"indexes":${JSON.stringify(list)}}\n`
    },
  }
}
