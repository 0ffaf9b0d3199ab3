import { type QueryResult, sql } from 'kysely'
import { invariant } from '../../../contract/invariant.ts'
import type { CollectionRef } from '../../../storage/document-ref.ts'
import { limitRows, listedIds } from '../../../storage/sql/parameters.ts'
import type { Store } from '../../../storage/store.ts'
import type { NewDocument } from '../../document.ts'
import { type DefinitionRow, type IndexDefinition, toDefinition } from '../definition.ts'
import type { KeyRange } from '../index-key.ts'

/** An entry of an index, with its document. */
export interface IndexEntry {
  readonly key: Uint8Array
  /** Id of the document. */
  readonly id: string
  /** Size of the document, bytes. */
  readonly bytes: number
  /** The document in the state that the entry describes; undefined if it is large. */
  readonly document: IndexedDocument | undefined
}

/** A stored document, with the tag of its state. */
export interface IndexedDocument extends NewDocument {
  readonly tag: string
}

/** The position of an entry in its index. */
export type EntryPosition = Pick<IndexEntry, 'key' | 'id'>

/** A range of an index: the entries after a position, whose empty id precedes all documents. */
export interface IndexRange extends EntryPosition {
  /** The key below which it ends. */
  readonly upper: Uint8Array
}

/** The range of an index to read: entries in ascending order, or in descending order. */
export interface EntryRange extends KeyRange {
  /** The entry after which an ascending range begins. */
  readonly after?: EntryPosition | undefined
  readonly isDescending?: boolean
}

/** Reads the indexes of collections. */
export interface IndexReader {
  /**
   * Returns the indexes of a collection that can serve queries; a promise only if the store is
   * asynchronous.
   */
  ready(where: CollectionRef): readonly IndexDefinition[] | Promise<readonly IndexDefinition[]>
  /** Returns whether an index can still serve queries: entries read before are complete. */
  isReady(where: CollectionRef, index: IndexDefinition): Promise<boolean>
  /** Returns entries by key and id; none if the index can no longer serve queries. */
  entries(
    where: CollectionRef,
    index: IndexDefinition,
    range: EntryRange,
    limit: number,
  ): Promise<IndexEntry[]>
  /**
   * Counts entries of a range. `last` is the last entry counted, if there may be more. The result is
   * complete only if the index {@link isReady} afterwards.
   */
  count(
    index: IndexDefinition,
    range: IndexRange,
  ): Promise<{ readonly count: number; readonly last: EntryPosition | undefined }>
  /** Returns documents by id. */
  documents(
    where: CollectionRef,
    ids: readonly string[],
  ): Promise<ReadonlyMap<string, IndexedDocument>>
}

/** Number of documents, or of entries of an index, that one statement counts. */
export const COUNT_BATCH = 2_000

/** Total size of the documents that are read with their entries, bytes. */
export const INLINE_BYTES = 512 * 1024

interface EntryRow {
  readonly key: Uint8Array
  readonly id: string
  readonly bytes: number | null
  readonly tag: string | null
  readonly body: string | null
}

/** Returns the reader of a store. */
export function createIndexReader({
  db,
  engine,
  prepareRead,
  prepareLookup = prepareRead,
}: Pick<Store, 'db' | 'engine' | 'prepareRead'> &
  Partial<Pick<Store, 'prepareLookup'>>): IndexReader {
  /** The parsed definitions by their rows: the query cache of SQLite returns the same rows again. */
  const parsed = new WeakMap<readonly object[], readonly IndexDefinition[]>()
  const ready = prepareLookup(
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
  const columns = sql`octet_length(body) as bytes, tag,
    case when octet_length(body) <= cast(${0} as integer) then body end as body`
  const isItsOwn = sql`documents.database = ${''} and documents.collection = ${''}
    and documents.id = entry.id`
  const isServing = sql`index_id = ${0} and exists (
    select 1 from document_indexes where document_indexes.id = ${0} and state = 'ready')`
  const [first, next, last] = CONDITIONS.map(([condition, order]) => {
    // PostgreSQL plans a join from statistics, which a new table lacks. `offset 0` prevents that.
    const query =
      engine === 'sqlite'
        ? sql<EntryRow>`
            select key, entry.id, ${columns} from index_entries as entry
            left join documents on ${isItsOwn} where ${isServing} and ${condition}
            order by ${order} limit ${limitRows(0)}`
        : sql<EntryRow>`
            select key, entry.id, bytes, tag, body from (
              select key, id from index_entries as entry where ${isServing} and ${condition}
              order by ${order} limit ${limitRows(0)}) as entry
            left join lateral (
              select ${columns} from documents where ${isItsOwn} offset 0) as document on true
            order by ${order}`
    return prepareRead(query.compile(db))
  }) as [ReadRows, ReadRows, ReadRows]
  type ReadRows = ReturnType<typeof prepareRead<EntryRow>>
  const isWithin = sql`
    index_id = ${0} and (key, id) > (${Buffer.of()}, ${''}) and key < ${Buffer.of()}
    order by key, id`
  const count = prepareRead(
    sql<{ count: number }>`
      select cast(count(*) as integer) as count from (
        select 1 from index_entries where ${isWithin} limit ${sql.lit(COUNT_BATCH)}) as counted`.compile(
      db,
    ),
  )
  const lastCounted = prepareRead(
    sql<EntryPosition>`
      select key, id from index_entries
      where ${isWithin} limit 1 offset ${sql.lit(COUNT_BATCH - 1)}`.compile(db),
  )
  const documents = prepareRead(
    sql<IndexedDocument>`
      select id, tag, body from documents
      where database = ${''} and collection = ${''} and id ${listedIds(engine)}`.compile(db),
  )
  function definitionsOf({ rows }: QueryResult<DefinitionRow>): readonly IndexDefinition[] {
    const definitions = parsed.get(rows) ?? rows.map(toDefinition)
    parsed.set(rows, definitions)
    return definitions
  }
  const readReady: IndexReader['ready'] = ({ database, collection }) => {
    const reading = ready(database, collection, 'ready')
    return reading instanceof Promise ? reading.then(definitionsOf) : definitionsOf(reading)
  }
  return {
    ready: readReady,
    async isReady(_, { id }) {
      return (await isReady(id)).rows.length > 0
    },
    async entries({ database, collection }, { id }, range, limit) {
      const { lower, upper, after, isDescending = false } = range
      const bounds = after === undefined ? [lower, upper] : [after.key, after.id, upper]
      const ofEntries = [id, id, ...bounds, limit]
      const ofDocuments = [Math.floor(INLINE_BYTES / limit), database, collection]
      const read = after !== undefined ? next : isDescending ? last : first
      const { rows } = await (engine === 'sqlite'
        ? read(...ofDocuments, ...ofEntries)
        : read(...ofEntries, ...ofDocuments))
      return rows.map(toEntry)
    },
    async count(index, { key, id, upper }) {
      const range = [index.id, key, id, upper]
      const { rows } = await count(...range)
      const [row] = rows
      invariant(row, 'an aggregate has a row')
      const last = row.count < COUNT_BATCH ? undefined : (await lastCounted(...range)).rows[0]
      return { count: row.count, last }
    },
    async documents({ database, collection }, ids) {
      const { rows } = await documents(database, collection, JSON.stringify(ids))
      return new Map(rows.map((row) => [row.id, row]))
    },
  }
}

const ascending = sql`key, entry.id`

/** The conditions and orders of ranges of an index: from the first key, after an entry, backwards. */
const CONDITIONS = [
  [sql`key >= ${Buffer.of()} and key < ${Buffer.of()}`, ascending],
  [sql`(key, entry.id) > (${Buffer.of()}, ${''}) and key < ${Buffer.of()}`, ascending],
  [sql`key >= ${Buffer.of()} and key < ${Buffer.of()}`, sql`key desc, entry.id desc`],
] as const

const toEntry = ({ key, id, bytes, tag, body }: EntryRow): IndexEntry => ({
  key,
  id,
  bytes: bytes ?? 0,
  document: tag === null || body === null ? undefined : { id, tag, body },
})
