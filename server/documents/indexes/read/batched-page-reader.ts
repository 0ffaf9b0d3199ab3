import { type RawBuilder, sql } from 'kysely'
import { PAGE } from '../../../contract/document.ts'
import { invariant } from '../../../contract/invariant.ts'
import type { Store } from '../../../storage/store.ts'
import { INLINE_BYTES, type IndexPart, type ReversedPart } from './index-reader.ts'
import { NO_PART, type PageReader, type PageRow, SEPARATOR, toPage } from './page-reader.ts'

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
 * Maximum number of documents of a page that are read by their locations. Documents with adjacent
 * ids, which longer pages often contain, are found faster by a search for all of them.
 */
const MAX_LOCATED = 20

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
  const prepare = (entries: EntryQuery) => ({
    located: prepareLookup(pageQuery(entries, MAX_LOCATED, byLocation).compile(db), limits),
    small: prepareLookup(pageQuery(entries, PAGE.default, byId).compile(db), limits),
    large: prepareLookup(pageQuery(entries, PAGE.max, byId).compile(db), { rows: 1 }),
  })
  const forwards = prepare(forwardEntries)
  const reversed = prepare(reversedEntries)
  return {
    mayReserve: false,
    async page({ database, collection }, { id }, part, other, limit) {
      const { located, small, large } = 'lower' in part ? reversed : forwards
      const read = async (lookUp: typeof small, maxBytes: number) => {
        const lower = 'lower' in part ? part.lower : Buffer.of()
        const bounds = [...boundsOf(part), hexOf(lower), ...boundsOf(other ?? NO_PART)]
        const { rows } = await lookUp(
          ...[database, collection, String(id), ...bounds, String(limit), String(maxBytes)],
        )
        const [row] = rows
        invariant(row, 'an aggregate has a row')
        return toPage(inKeyOrder(row), Math.min(row.scanned, limit))
      }
      const maxBytes = Math.floor(INLINE_BYTES / (limit + 1))
      if (limit > PAGE.default) return read(large, maxBytes)
      const first = limit > MAX_LOCATED ? small : located
      return (await read(first, SMALL_BYTES)) ?? read(large, maxBytes)
    },
  }
}

function boundsOf(part: IndexPart | ReversedPart): string[] {
  const { key, id } = 'after' in part ? part.after : part
  return [hexOf(key), id, hexOf(part.upper)]
}

const hexOf = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex')

/** Position of the number of documents in the parameters of {@link pageQuery}. */
const LIMIT_AT = 10

interface UnorderedRow extends PageRow {
  /** The ids of the documents in the order of the entries; null if they are in this order. */
  readonly ids: readonly string[] | null
  /** The ids of the documents that were found; null if they are in the order of the entries. */
  readonly found_ids: readonly string[] | null
}

/** Sorts the documents of a row in the order of the entries, if all were found and are small. */
function inKeyOrder(row: UnorderedRow): PageRow {
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
 * Returns a query that selects columns of entries, and reads at most `max` entries. PostgreSQL plans
 * a sort of the whole range if it does not know the limit.
 */
type EntryQuery = (max: number, columns: RawBuilder<unknown>) => RawBuilder<unknown>

const isOfIndex = sql`index_id = requested.index_id`

const forwardEntries: EntryQuery = (max, columns) => sql`
  select ${columns} from (
    select ${columns} from index_entries where ${isOfIndex}
    and (key, id) > (decode(requested.key, 'hex'), requested.id)
    and key < decode(requested.upper, 'hex')
    order by key, id limit ${sql.lit(max)}
  ) as first_entries
  order by key, id limit requested.max_documents + 1`

/** The ids of the last key are read forwards: there may be many more than the page needs. */
const reversedEntries: EntryQuery = (max, columns) => sql`
  with last_entries as materialized (
    select ${columns} from (
      select ${columns} from index_entries where ${isOfIndex}
      and key >= decode(requested.lower, 'hex') and key < decode(requested.upper, 'hex')
      order by key desc, id desc limit ${sql.lit(max)}
    ) as first_entries
    order by key desc, id desc limit requested.max_documents + 1
  ), last as materialized (
    select (array_agg(key))[requested.max_documents + 1] as key from last_entries
  )
  select ${columns} from (
    (select ${columns} from index_entries where ${isOfIndex}
      and key = decode(requested.key, 'hex') and id > requested.id
      order by id limit ${sql.lit(max)})
    union all
    select ${columns} from last_entries where key > coalesce((select key from last), '')
    union all
    (select ${columns} from index_entries where ${isOfIndex} and key = (select key from last)
      order by id limit ${sql.lit(max)})
  ) as entries
  order by key desc, id limit requested.max_documents + 1`

/** How a page reads the documents of its entries. */
interface DocumentQuery {
  /** The columns of the entries. PostgreSQL reads `key` and `id` from the primary key alone. */
  readonly columns: RawBuilder<unknown>
  /** An aggregate of these columns for {@link documents}. */
  readonly locations: RawBuilder<unknown>
  /** Selects `id`, `tag` and `body` of the documents. */
  readonly documents: RawBuilder<unknown>
}

const isInCollection = sql`documents.database = requested.database
  and documents.collection = requested.collection`

/**
 * Searches documents by the list of their ids, in the order of ids: PostgreSQL then reads adjacent
 * documents without a search for each.
 */
const byId: DocumentQuery = {
  columns: sql`key, id`,
  locations: sql`null`,
  documents: sql`
    select id, tag, body from documents
    where ${isInCollection} and documents.id = any(entry.ids) order by id`,
}

/**
 * Reads documents at the locations in their entries, and searches those that are not there. A
 * location may contain another document by now
 * (docs/decisions/0033-locations-of-documents-in-indexes.md). Without `offset 0`, PostgreSQL could
 * search the ids instead and only compare the locations.
 */
const byLocation: DocumentQuery = {
  columns: sql`key, id, document_ctid`,
  locations: sql`(array_agg(document_ctid))[:requested.max_documents]`,
  documents: sql`
    with located as materialized (
      select id, tag, body from (
        select * from documents where ctid = any(entry.locations) offset 0
      ) as documents
      where ${isInCollection} and documents.id = any(entry.ids)
    )
    select id, tag, body from located
    union all (
      select id, tag, body from documents
      where ${isInCollection} and documents.id = any(
        case when (select count(*) from located) < cardinality(entry.ids) then entry.ids end)
      and documents.id <> all(array(select id from located)) order by id
    )`,
}

/**
 * Returns the query of a page of up to `maxDocuments` documents. The entry after the page only shows
 * whether there are more.
 */
const pageQuery = (
  entries: EntryQuery,
  maxDocuments: number,
  { columns, locations, documents }: DocumentQuery,
) => sql<UnorderedRow>`
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
    select ${''} as database, ${''} as collection, cast(${''} as bigint) as index_id,
      ${''} as key, ${''} as id, ${''} as upper, ${''} as lower,
      ${''} as other_key, ${''} as other_id, ${''} as other_upper,
      cast(${''} as integer) as max_documents, cast(${''} as integer) as max_bytes
  ) as requested, lateral (
    select
      cast(count(*) as integer) as scanned,
      (array_agg(id))[:requested.max_documents] as ids,
      ${locations} as locations,
      max(octet_length(key)) as longest_key
    from (
      ${entries(maxDocuments + 1, columns)}
    ) as entries
  ) as entry, lateral (
    select
      array_agg(id) as found_ids,
      string_agg(case when octet_length(body) <= requested.max_bytes then body end,
        ${sql.lit(SEPARATOR)}) as bodies,
      string_agg(tag, '\n') as tags
    from (
      ${documents}
    ) as found
  ) as document`
