import { type RawBuilder, sql } from 'kysely'
import { PAGE } from '../../../contract/document.ts'
import { invariant } from '../../../contract/invariant.ts'
import type { Store } from '../../../storage/store.ts'
import { INLINE_BYTES, type IndexRange } from './index-reader.ts'
import { NO_ENTRIES, type PageReader, type PageRow, SEPARATOR, toPage } from './page-reader.ts'

/** Maximum size of a document of a page that is read together with other pages, bytes. */
const SMALL_BYTES = 2_560

/** Maximum number of documents that a statement for several pages returns. */
const MAX_DOCUMENTS = 10 * PAGE.default

/**
 * Maximum number of pages that a statement reads. The node then responds to the requests of one
 * statement while PostgreSQL executes the next.
 */
const MAX_PAGES = 20

/**
 * Returns the reader of PostgreSQL. One statement reads all pages that are requested in one turn of
 * the event loop. Longer pages, and pages with larger documents, take one statement each.
 */
export function createBatchedPageReader({
  db,
  prepareLookup,
}: Pick<Store, 'db' | 'prepareLookup'>): PageReader {
  const limits = {
    rows: MAX_DOCUMENTS,
    rowsOf: (...parameters: readonly string[]) =>
      Math.max(Number(parameters[LIMIT_AT]), MAX_DOCUMENTS / MAX_PAGES),
  }
  const smallBytes = sql.lit(SMALL_BYTES)
  const largeBytes = sql`${sql.lit(INLINE_BYTES)} / (requested.max_documents + 1)`
  const small = prepareLookup(pageQuery(PAGE.default, smallBytes).compile(db), limits)
  const large = prepareLookup(pageQuery(PAGE.max, largeBytes).compile(db), { rows: 1 })
  return {
    async page({ database, collection }, { id }, range, other, limit) {
      const parameters = [
        ...[String(limit), database, collection, String(id)],
        ...[...boundsOf(range), ...boundsOf(other ?? NO_ENTRIES)],
      ]
      const read = async (lookUp: typeof small) => {
        const { rows } = await lookUp(...parameters)
        const [row] = rows
        invariant(row, 'an aggregate has a row')
        return toPage(inKeyOrder(row), Math.min(row.scanned, limit))
      }
      return (limit > PAGE.default ? undefined : await read(small)) ?? read(large)
    },
  }
}

const boundsOf = ({ key, id, upper }: IndexRange) => [hexOf(key), id, hexOf(upper)]

const hexOf = (bytes: Uint8Array) =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('hex')

/** Position of the number of documents in the parameters of {@link pageQuery}. */
const LIMIT_AT = 0

interface FoundRow extends PageRow {
  /** The ids of the documents in the order of the entries; null if they are in this order. */
  readonly ids: readonly string[] | null
  /** The ids of the documents that were found; null if they are in the order of the entries. */
  readonly found_ids: readonly string[] | null
}

/** Sorts the documents of a row in the order of the entries, if all were found and are small. */
function inKeyOrder(row: FoundRow): PageRow {
  const { ids, found_ids: found } = row
  if (ids === null || found === null) return row
  const bodies = row.bodies?.split(SEPARATOR) ?? []
  const tags = row.tags?.split('\n') ?? []
  if (found.length < ids.length || bodies.length < found.length) return { ...row, bodies: null }
  const positions = new Map(found.map((id, at) => [id, at]))
  const sort = (values: readonly string[]) =>
    ids.map((id) => values[positions.get(id) as number] as string)
  return { ...row, bodies: sort(bodies).join(SEPARATOR), tags: sort(tags).join('\n') }
}

/**
 * Returns the query of a page of up to `maxDocuments`. The entry after the page only shows whether
 * there are more. PostgreSQL plans a sort of the whole range if it does not know the limit.
 *
 * It searches the documents by the list of their ids, in the order of ids, so PostgreSQL reads
 * adjacent documents without a search for each.
 */
const pageQuery = (maxDocuments: number, maxBytes: RawBuilder<unknown>) => sql<FoundRow>`
  select
    cast(exists (select 1 from document_indexes
      where document_indexes.id = requested.index_id and state = 'ready') as integer) as is_ready,
    case when requested.other_upper = '' then 0 else cast((select count(*) from (
      select 1 from index_entries where index_id = requested.index_id
      and (key, id) > (decode(requested.other_key, 'hex'), requested.other_id)
      and key < decode(requested.other_upper, 'hex') order by key, id limit 1) as others_found
    ) as integer) end as others,
    scanned,
    longest_key,
    case when found_ids <> ids then array_to_json(ids) end as ids,
    case when found_ids <> ids then array_to_json(found_ids) end as found_ids,
    bodies,
    tags
  from (
    select cast(${''} as integer) as max_documents,
      ${''} as database, ${''} as collection, cast(${''} as bigint) as index_id,
      ${''} as key, ${''} as id, ${''} as upper,
      ${''} as other_key, ${''} as other_id, ${''} as other_upper
  ) as requested, lateral (
    select cast(count(*) as integer) as scanned, max(octet_length(key)) as longest_key,
      (array_agg(id))[:requested.max_documents] as ids
    from (
      select key, id from (
        select key, id from index_entries where index_id = requested.index_id
        and (key, id) > (decode(requested.key, 'hex'), requested.id)
        and key < decode(requested.upper, 'hex')
        order by key, id limit ${sql.lit(maxDocuments + 1)}
      ) as first_entries
      order by key, id limit requested.max_documents + 1
    ) as entries
  ) as entry, lateral (
    select array_agg(id) as found_ids,
      string_agg(case when octet_length(body) <= ${maxBytes} then body end,
        ${sql.lit(SEPARATOR)}) as bodies,
      string_agg(tag, '\n') as tags
    from (
      select id, tag, body from documents
      where documents.database = requested.database
      and documents.collection = requested.collection
      and documents.id = any(entry.ids) order by id
    ) as found
  ) as document`
