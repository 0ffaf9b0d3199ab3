import { sql } from 'kysely'
import { PAGE } from '../../../contract/document.ts'
import type { Store } from '../../../storage/store.ts'
import { INLINE_BYTES, type IndexPart } from './index-reader.ts'
import { NO_PART, type PageReader, type PageRow, toPage } from './page-reader.ts'

/** Maximum size of a document of a page that is read together with other pages, bytes. */
const SMALL_BYTES = 2_560

/** Maximum number of documents that a statement for several pages returns. */
const TOGETHER = 1_000

/**
 * Returns the reader of PostgreSQL. The pages of a turn of the event loop are one statement. Longer
 * pages, and those with larger documents, are a statement each.
 */
export function createBatchedPageReader({
  db,
  prepareLookup,
}: Pick<Store, 'db' | 'prepareLookup'>): PageReader {
  const readSmall = prepareLookup(pageQuery(PAGE.default).compile(db), {
    rows: TOGETHER,
    rowsOf: (...parameters) => Number(parameters[LIMIT_AT]),
  })
  const readLarge = prepareLookup(pageQuery(PAGE.max).compile(db), { rows: 1 })
  return {
    mayReserve: false,
    async page({ database, collection }, { id }, part, other, limit) {
      const read = async (lookUp: typeof readSmall, maxBytes: number) => {
        const bounds = [...boundsOf(part), ...boundsOf(other ?? NO_PART)]
        const { rows } = await lookUp(
          ...[database, collection, String(id), ...bounds, String(limit), String(maxBytes)],
        )
        return toPage(rows[0], maxBytes)
      }
      const maxBytes = Math.floor(INLINE_BYTES / limit)
      if (limit > PAGE.default) return read(readLarge, maxBytes)
      return (await read(readSmall, SMALL_BYTES)) ?? read(readLarge, maxBytes)
    },
  }
}

const boundsOf = ({ key, id, upper }: IndexPart) => [
  Buffer.from(key).toString('hex'),
  id,
  Buffer.from(upper).toString('hex'),
]

/** Position of the limit in the parameters of {@link pageQuery}. */
const LIMIT_AT = 9

/**
 * Returns the query of a page of up to `maxDocuments` documents. Its limits are constants, because
 * PostgreSQL plans a sort of the whole range if it does not know the limit. The documents are
 * aggregated in the order of the subquery, which is that of the index.
 */
const pageQuery = (maxDocuments: number) => sql<PageRow>`
  select
    cast((select count(*) from document_indexes
      where document_indexes.id = requested.index_id and state = 'ready') as integer) as is_ready,
    case when requested.other_upper = '' then 0 else cast((select count(*) from (
      select 1 from index_entries where index_id = requested.index_id
      and (key, id) > (decode(requested.other_key, 'hex'), requested.other_id)
      and key < decode(requested.other_upper, 'hex') order by key, id limit 1) as others_found
    ) as integer) end as others,
    page.*
  from (
    select ${''} as database, ${''} as collection, cast(${''} as bigint) as index_id,
      ${''} as key, ${''} as id, ${''} as upper,
      ${''} as other_key, ${''} as other_id, ${''} as other_upper,
      cast(${''} as integer) as page_limit, cast(${''} as integer) as max_bytes
  ) as requested, lateral (
    select
      cast(count(*) as integer) as scanned,
      cast(count(*) filter (where at <= requested.page_limit) as integer) as entries,
      cast(count(tag) as integer) as found,
      max(octet_length(key)) filter (where at <= requested.page_limit) as longest_key,
      max(octet_length(body)) as largest,
      string_agg(case when octet_length(body) <= requested.max_bytes then body end, ',') as json,
      string_agg(id || '\n' || tag, '\n') as states,
      string_agg(cast(octet_length(body) as text), ',') as sizes
    from (
      select entry.key, entry.id, entry.at, document.tag, document.body
      from (
        select key, id, row_number() over () as at from (
          select key, id from index_entries where index_id = requested.index_id
          and (key, id) > (decode(requested.key, 'hex'), requested.id)
          and key < decode(requested.upper, 'hex')
          order by key, id limit ${sql.lit(maxDocuments + 1)}
        ) as first_entries
        order by key, id limit requested.page_limit + 1
      ) as entry
      left join lateral (
        select tag, body from documents
        where documents.database = requested.database and documents.collection = requested.collection
        and documents.id = entry.id and entry.at <= requested.page_limit offset 0
      ) as document on true
      order by entry.key, entry.id
    ) as in_order
  ) as page`
