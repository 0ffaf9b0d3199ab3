import { type CompiledQuery, type QueryResult, type RawBuilder, sql } from 'kysely'
import { PAGE } from '../../contract/document.ts'
import { invariant } from '../../contract/invariant.ts'
import type { CollectionRef } from '../../storage/document-ref.ts'
import { type IdRange, sqlOfRange } from '../../storage/sql/id-range.ts'
import type { Store } from '../../storage/store.ts'
import type { IndexedDocument } from '../indexes/read/index-reader.ts'
import { SEPARATOR } from '../indexes/read/page-reader.ts'

/** The next documents of a scan. */
export interface ScanBatch<Document> {
  /** The last id if fewer documents are returned than the scan may read; otherwise undefined. */
  readonly last: string | undefined
  readonly bytes: number
  readonly documents: readonly Document[]
}

/**
 * Returns the first documents of a range, up to {@link PAGE}.max: fewer, but at least one, if they
 * exceed `maxBytes`.
 */
export type ReadScanBatch<Document> = (
  where: CollectionRef,
  range: IdRange,
  maxBytes: number,
) => Promise<ScanBatch<Document>>

type RunQuery = <R>(query: CompiledQuery<R>) => Promise<Pick<QueryResult<R>, 'rows'>>

interface Row {
  /** Number of documents, including those that do not fit. */
  readonly found: number
  readonly bytes: number
  /** JSON. */
  readonly ids: string | null
  /** JSON. Tags that are slices of a text would keep it in memory. */
  readonly tags: string | null
  readonly bodies: string | null
}

/** Returns a function that reads batches with tags (PostgreSQL only). */
export function createReadScanBatch({ db }: Pick<Store, 'db'>): ReadScanBatch<IndexedDocument> {
  const selectedTags = sql`cast(json_agg(tag) filter (where fits) as text)`
  const run: RunQuery = (query) => db.executeQuery(query)
  return createRead(db, run, selectedTags, (id, body, tag) => {
    invariant(tag !== undefined, 'each document has a tag')
    return { id, tag, body }
  })
}

/**
 * As {@link createReadScanBatch}, without tags. Aggregating them takes a fifth of the query's time.
 *
 * @param run runs a query, such as in a snapshot.
 */
export function createReadUntaggedBatch(
  { db }: Pick<Store, 'db'>,
  run: RunQuery,
): ReadScanBatch<Omit<IndexedDocument, 'tag'>> {
  return createRead(db, run, sql`null`, (id, body) => ({ id, body }))
}

/**
 * The documents of a batch are one row, because the node takes longer to read a row than to parse
 * and match a small document.
 */
function createRead<Document>(
  db: Store['db'],
  run: RunQuery,
  selectedTags: RawBuilder<unknown>,
  toDocument: (id: string, body: string, tag: string | undefined) => Document,
): ReadScanBatch<Document> {
  return async ({ database, collection }, range, maxBytes) => {
    const { isWithin, order } = sqlOfRange(range)
    const query = sql<Row>`
      select
        cast(count(*) as integer) as found,
        cast(coalesce(sum(bytes) filter (where fits), 0) as integer) as bytes,
        cast(json_agg(id) filter (where fits) as text) as ids,
        ${selectedTags} as tags,
        string_agg(body, ${SEPARATOR}) filter (where fits) as bodies
      from (
        select id, tag, body, bytes, total = bytes or total <= ${maxBytes} as fits
        from (
          select id, tag, body, octet_length(body) as bytes,
            sum(octet_length(body)) over (${order} rows unbounded preceding) as total
          from (
            select id, tag, body from documents
            where database = ${database} and collection = ${collection} and ${isWithin}
            ${order} limit ${sql.lit(PAGE.max)}
          ) as batch
        ) as sized
        ${order}
      ) as in_order`
    const [row] = (await run(query.compile(db))).rows
    invariant(row, 'an aggregate has a row')
    const { found, bytes } = row
    const ids = JSON.parse(row.ids ?? '[]') as string[]
    const tags = JSON.parse(row.tags ?? '[]') as string[]
    invariant(row.tags === null || tags.length === ids.length, 'each document has one tag')
    const bodies = row.bodies?.split(SEPARATOR) ?? []
    invariant(bodies.length === ids.length, 'a body is JSON')
    const documents = ids.map((id, at) => toDocument(id, bodies[at] as string, tags[at]))
    return { last: ids.length < found ? ids.at(-1) : undefined, bytes, documents }
  }
}
