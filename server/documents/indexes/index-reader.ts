import { sql } from 'kysely'
import type { CollectionRef } from '../../storage/document-ref.ts'
import type { Store } from '../../storage/open.ts'
import type { MadeDocument } from '../document.ts'
import { type IndexDefinition, toDefinition } from './definition.ts'
import type { KeyRange } from './index-key.ts'

/** An entry of an index. */
export interface IndexEntry {
  readonly key: Buffer
  /** Id of the document. */
  readonly id: string
  /** Size of the document, bytes. */
  readonly bytes: number
}

/** A stored document, with the tag of its state. */
export interface IndexedDocument extends MadeDocument {
  readonly tag: string
}

/** Reads the indexes of collections. */
export interface IndexReader {
  /** Returns the indexes of a collection that can serve queries. */
  ready(where: CollectionRef): Promise<readonly IndexDefinition[]>
  /** Returns whether an index can still serve queries: entries read before are complete. */
  isReady(where: CollectionRef, index: IndexDefinition): Promise<boolean>
  /** Returns entries in order, of a range and after an entry. */
  entries(
    where: CollectionRef,
    index: IndexDefinition,
    range: KeyRange,
    after: Pick<IndexEntry, 'key' | 'id'> | undefined,
    limit: number,
  ): Promise<IndexEntry[]>
  /** Returns documents by id. */
  documents(
    where: CollectionRef,
    ids: readonly string[],
  ): Promise<ReadonlyMap<string, IndexedDocument>>
}

interface EntryRow {
  readonly key: Uint8Array
  readonly id: string
  readonly bytes: number | null
}

/** Returns the reader of a store. */
export function createIndexReader({
  db,
  engine,
  prepareRead,
}: Pick<Store, 'db' | 'engine' | 'prepareRead'>): IndexReader {
  const ready = prepareRead(
    db
      .selectFrom('document_indexes')
      .select(['id', 'name', 'fields', 'is_unique', 'state'])
      .where('database', '=', '')
      .where('collection', '=', '')
      .where('state', '=', 'ready')
      // Implied; with it, SQLite uses the partial index on the names of indexes.
      .where(sql<boolean>`state <> 'dropped'`)
      .orderBy('id')
      .compile(),
  )
  const isReady = prepareRead(
    sql`select 1 from document_indexes where id = ${0} and state = 'ready'`.compile(db),
  )
  const nothing = Buffer.of()
  // A subquery, because PostgreSQL plans a join from statistics, which a new table lacks.
  const columns = sql`key, id, (
    select octet_length(body) from documents
    where documents.database = ${''} and documents.collection = ${''} and documents.id = entry.id
  ) as bytes`
  const first = prepareRead(
    sql<EntryRow>`
      select ${columns} from index_entries as entry
      where index_id = ${0} and key >= ${nothing} and key < ${nothing}
      order by key, id limit ${0}`.compile(db),
  )
  const next = prepareRead(
    sql<EntryRow>`
      select ${columns} from index_entries as entry
      where index_id = ${0} and (key, id) > (${nothing}, ${''}) and key < ${nothing}
      order by key, id limit ${0}`.compile(db),
  )
  const isListed =
    engine === 'sqlite'
      ? sql`in (select value from json_each(${''}))`
      : sql`= any(array(select json_array_elements_text(cast(${''} as json))))`
  const documents = prepareRead(
    sql<IndexedDocument>`
      select id, tag, body from documents
      where database = ${''} and collection = ${''} and id ${isListed}`.compile(db),
  )
  return {
    async ready({ database, collection }) {
      const { rows } = await ready(database, collection, 'ready')
      return rows.map(toDefinition)
    },
    async isReady(_, { id }) {
      return (await isReady(id)).rows.length > 0
    },
    async entries({ database, collection }, { id }, { lower, upper }, after, limit) {
      const { rows } = await (after === undefined
        ? first(database, collection, id, lower, upper, limit)
        : next(database, collection, id, after.key, after.id, upper, limit))
      return rows.map(({ key, id, bytes }) => ({
        key: Buffer.from(key.buffer, key.byteOffset, key.byteLength),
        id,
        bytes: bytes ?? 0,
      }))
    },
    async documents({ database, collection }, ids) {
      const { rows } = await documents(database, collection, JSON.stringify(ids))
      return new Map(rows.map((row) => [row.id, row]))
    },
  }
}
