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
  const prepare = (part: PartQuery) => ({
    small: prepareLookup(
      pageQuery(part, documentPage(part, PAGE.default, smallBytes)).compile(db),
      limits,
    ),
    large: prepareLookup(pageQuery(part, documentPage(part, PAGE.max, largeBytes)).compile(db), {
      rows: 1,
    }),
  })
  const forwards = prepare(forwardPart)
  const reversed = prepare(reversedPart)
  return {
    async page({ database, collection }, { id }, part, other, limit) {
      const { small, large } = 'lower' in part ? reversed : forwards
      const parameters = [String(limit), database, collection, String(id), ...boundsOf(part)]
      parameters.push(...boundsOf(other ?? NO_PART))
      if ('lower' in part) parameters.push(hexOf(part.lower))
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

function boundsOf(part: IndexPart | ReversedPart): string[] {
  const { key, id } = 'after' in part ? part.after : part
  return [hexOf(key), id, hexOf(part.upper)]
}

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

/** A part of an index that pages read. */
interface PartQuery {
  /** The parameters that only it has. They follow the common ones. */
  readonly parameters: RawBuilder<unknown>
  /**
   * Returns a query of the key and the id of its first entries, which reads at most `max`. PostgreSQL
   * plans a sort of the whole part if it does not know the limit, and reads no other columns from
   * the primary key alone.
   */
  readonly entries: (max: number) => RawBuilder<unknown>
}

const isOfIndex = sql`index_id = requested.index_id`

const forwardPart: PartQuery = {
  parameters: sql``,
  entries: (max) => sql`
    select key, id from (
      select key, id from index_entries where ${isOfIndex}
      and (key, id) > (decode(requested.key, 'hex'), requested.id)
      and key < decode(requested.upper, 'hex')
      order by key, id limit ${sql.lit(max)}
    ) as first_entries
    order by key, id limit requested.max_documents + 1`,
}

/** The ids of the last key are read forwards: there may be many more than the page needs. */
const reversedPart: PartQuery = {
  parameters: sql`, ${''} as lower`,
  entries: (max) => sql`
    with last_entries as materialized (
      select key, id from (
        select key, id from index_entries where ${isOfIndex}
        and key >= decode(requested.lower, 'hex') and key < decode(requested.upper, 'hex')
        order by key desc, id desc limit ${sql.lit(max)}
      ) as first_entries
      order by key desc, id desc limit requested.max_documents + 1
    ), last as materialized (
      select (array_agg(key))[requested.max_documents + 1] as key from last_entries
    )
    select key, id from (
      (select key, id from index_entries where ${isOfIndex}
        and key = decode(requested.key, 'hex') and id > requested.id
        order by id limit ${sql.lit(max)})
      union all
      select key, id from last_entries where key > coalesce((select key from last), '')
      union all
      (select key, id from index_entries where ${isOfIndex} and key = (select key from last)
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
 * Searches the documents of up to `maxDocuments` entries by the list of their ids, in the order of
 * ids: PostgreSQL then reads adjacent documents without a search for each.
 */
const documentPage = (
  { entries }: PartQuery,
  maxDocuments: number,
  maxBytes: RawBuilder<unknown>,
) => sql<FoundRow>`
  select
    scanned,
    longest_key,
    case when found_ids <> ids then array_to_json(ids) end as ids,
    case when found_ids <> ids then array_to_json(found_ids) end as found_ids,
    bodies,
    tags
  from (
    select ${entryColumns}, (array_agg(id))[:requested.max_documents] as ids
    from (${entries(maxDocuments + 1)}) as entries
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
