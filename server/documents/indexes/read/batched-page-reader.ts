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
 * the event loop. Those with a document that is not at its location need another one. Longer pages,
 * and pages with larger documents, take one statement each.
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
  const prepare = (part: PartQuery) => ({
    located: prepareLookup(pageQuery(part, locatedPage(part, smallBytes)).compile(db), limits),
    small: prepareLookup(
      pageQuery(part, searchedPage(part, PAGE.default, smallBytes)).compile(db),
      limits,
    ),
    large: prepareLookup(pageQuery(part, searchedPage(part, PAGE.max, largeBytes)).compile(db), {
      rows: 1,
    }),
  })
  const forwards = prepare(forwardPart)
  const reversed = prepare(reversedPart)
  return {
    async page({ database, collection }, { id }, part, other, limit) {
      const { located, small, large } = 'lower' in part ? reversed : forwards
      const parameters = [String(limit), database, collection, String(id), ...boundsOf(part)]
      parameters.push(...boundsOf(other ?? NO_PART))
      if ('lower' in part) parameters.push(hexOf(part.lower))
      const pageOf = (row: PageRow) => toPage(row, Math.min(row.scanned, limit))
      const readSearched = async (lookUp: typeof small) =>
        pageOf(inKeyOrder(onlyRow(await lookUp(...parameters))))
      if (limit > PAGE.default) return readSearched(large)
      if (limit > MAX_LOCATED) return (await readSearched(small)) ?? readSearched(large)
      const row = onlyRow(await located(...parameters))
      const page = pageOf(row)
      if (page !== undefined) return page
      // A document that is not at its location may be small.
      const found = row.tags?.split('\n').length ?? 0
      const areFound = found === Math.min(row.scanned, limit)
      return (areFound ? undefined : await readSearched(small)) ?? readSearched(large)
    },
  }
}

function onlyRow<Row>({ rows: [row] }: { readonly rows: readonly Row[] }): Row {
  invariant(row, 'an aggregate has a row')
  return row
}

function boundsOf(part: IndexPart | ReversedPart): string[] {
  const { key, id } = 'after' in part ? part.after : part
  return [hexOf(key), id, hexOf(part.upper)]
}

const hexOf = (bytes: Uint8Array) =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('hex')

/** Position of the number of documents in the parameters of {@link pageQuery}. */
const LIMIT_AT = 0

interface SearchedRow extends PageRow {
  /** The ids of the documents in the order of the entries; null if they are in this order. */
  readonly ids: readonly string[] | null
  /** The ids of the documents that were found; null if they are in the order of the entries. */
  readonly found_ids: readonly string[] | null
}

/** Sorts the documents of a row in the order of the entries, if all were found and are small. */
function inKeyOrder(row: SearchedRow): PageRow {
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

/** A part of an index that pages read. */
interface PartQuery {
  /** The parameters that only it has. They follow the common ones. */
  readonly parameters: RawBuilder<unknown>
  /**
   * Returns a query that selects columns of its first entries, and reads at most `max`. PostgreSQL
   * plans a sort of the whole part if it does not know the limit.
   */
  readonly entries: (max: number, columns: RawBuilder<unknown>) => RawBuilder<unknown>
}

const isOfIndex = sql`index_id = requested.index_id`

const forwardPart: PartQuery = {
  parameters: sql``,
  entries: (max, columns) => sql`
    select ${columns} from (
      select ${columns} from index_entries where ${isOfIndex}
      and (key, id) > (decode(requested.key, 'hex'), requested.id)
      and key < decode(requested.upper, 'hex')
      order by key, id limit ${sql.lit(max)}
    ) as first_entries
    order by key, id limit requested.max_documents + 1`,
}

/** The ids of the last key are read forwards: there may be many more than the page needs. */
const reversedPart: PartQuery = {
  parameters: sql`, ${''} as lower`,
  entries: (max, columns) => sql`
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
    order by key desc, id limit requested.max_documents + 1`,
}

const isInCollection = sql`documents.database = requested.database
  and documents.collection = requested.collection`

/** The columns of a page, aggregated from rows with `body` and `tag`. */
const documentColumns = (maxBytes: RawBuilder<unknown>) => sql`
  string_agg(case when octet_length(body) <= ${maxBytes} then body end, ${sql.lit(SEPARATOR)})
    as bodies,
  string_agg(tag, '\n') as tags`

const entryColumns = sql`
  cast(count(*) as integer) as scanned,
  max(octet_length(key)) as longest_key`

/**
 * Reads the documents at the locations in their entries. A location may contain another document by
 * now (docs/decisions/0033-locations-of-documents-in-indexes.md). Without `offset 0`, PostgreSQL
 * could search the id instead and only compare the location.
 */
const locatedPage = ({ entries }: PartQuery, maxBytes: RawBuilder<unknown>) => sql<PageRow>`
  select ${entryColumns}, ${documentColumns(maxBytes)}
  from (
    select key, id,
      case when row_number() over () <= requested.max_documents then document_ctid end as location
    from (${entries(MAX_LOCATED + 1, sql`key, id, document_ctid`)}) as entries
  ) as entry
  left join lateral (
    select tag, body from (
      select * from documents where ctid = entry.location offset 0
    ) as documents
    where ${isInCollection} and documents.id = entry.id
  ) as found on true`

/**
 * Searches the documents of up to `maxDocuments` entries by the list of their ids, in the order of
 * ids: PostgreSQL then reads adjacent documents without a search for each. It reads `key` and `id`
 * of the entries from the primary key alone.
 */
const searchedPage = (
  { entries }: PartQuery,
  maxDocuments: number,
  maxBytes: RawBuilder<unknown>,
) => sql<SearchedRow>`
  select
    scanned,
    longest_key,
    case when found_ids <> ids then array_to_json(ids) end as ids,
    case when found_ids <> ids then array_to_json(found_ids) end as found_ids,
    bodies,
    tags
  from (
    select ${entryColumns}, (array_agg(id))[:requested.max_documents] as ids
    from (${entries(maxDocuments + 1, sql`key, id`)}) as entries
  ) as entry, lateral (
    select array_agg(id) as found_ids, ${documentColumns(maxBytes)}
    from (
      select id, tag, body from documents
      where ${isInCollection} and documents.id = any(entry.ids) order by id
    ) as found
  ) as document`

/**
 * Returns the query of a page. The entry after the page only shows whether there are more.
 *
 * @param page a query of the entries and their documents.
 */
const pageQuery = <Row extends PageRow>(
  { parameters }: PartQuery,
  page: RawBuilder<Row>,
) => sql<Row>`
  select
    cast(exists (select 1 from document_indexes
      where document_indexes.id = requested.index_id and state = 'ready') as integer) as is_ready,
    case when requested.other_upper = '' then 0 else cast((select count(*) from (
      select 1 from index_entries where index_id = requested.index_id
      and (key, id) > (decode(requested.other_key, 'hex'), requested.other_id)
      and key < decode(requested.other_upper, 'hex') order by key, id limit 1) as others_found
    ) as integer) end as others,
    found.*
  from (
    select cast(${''} as integer) as max_documents,
      ${''} as database, ${''} as collection, cast(${''} as bigint) as index_id,
      ${''} as key, ${''} as id, ${''} as upper,
      ${''} as other_key, ${''} as other_id, ${''} as other_upper
      ${parameters}
  ) as requested, lateral (${page}) as found`
