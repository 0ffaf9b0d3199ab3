import { type CompiledQuery, type QueryResult, type RawBuilder, sql } from 'kysely'
import { PAGE } from '../../contract/document.ts'
import { invariant } from '../../contract/invariant.ts'
import type { CollectionRef } from '../../storage/document-ref.ts'
import { type IdRange, sqlOfRange } from '../../storage/sql/id-range.ts'
import { limitRows } from '../../storage/sql/parameters.ts'
import type { Store } from '../../storage/store.ts'
import type { IndexedDocument } from '../indexes/read/index-reader.ts'
import type { RequiredTexts } from '../query/filter.ts'

/** Maximum size of a batch, bytes. Parsing 1 MiB takes about 5 ms for typical documents. */
export const BATCH_BYTES = 1024 * 1024

/** The next documents of a scan. */
export interface ScanBatch {
  /** Number of documents that the store has examined. */
  readonly scanned: number
  /** The id of the last of them, after which the next batch begins; undefined if there are none. */
  readonly last: string | undefined
  /** Whether the range has no further documents. */
  readonly isEnd: boolean
  /** Those of them that contain the required texts, in the order of the range. */
  readonly documents: readonly IndexedDocument[]
}

export interface ScanOptions {
  /** Texts without which a document cannot match; by default none. */
  readonly required?: RequiredTexts
  /** The only ids to read, at most {@link PAGE}.max; by default all. */
  readonly ids?: readonly string[]
}

/**
 * Looks at the first documents of a range, up to {@link PAGE}.max and {@link BATCH_BYTES}, at least
 * at one.
 */
export type ScanNext = (
  where: CollectionRef,
  range: IdRange,
  options?: ScanOptions,
) => Promise<ScanBatch>

interface Measured {
  readonly scanned: number
  readonly bytes: number
  readonly last: string | null
}

/** @param run runs a query, such as in a snapshot. */
export function createScanNext(
  { db, engine }: Pick<Store, 'db' | 'engine'>,
  run: <R>(query: CompiledQuery<R>) => Promise<Pick<QueryResult<R>, 'rows'>> = (query) =>
    db.executeQuery(query),
): ScanNext {
  const position = engine === 'sqlite' ? sql`instr` : sql`strpos`
  const select = async <R>(query: RawBuilder<R>) => (await run(query.compile(db))).rows

  return async ({ database, collection }, range, { required = [], ids } = {}) => {
    const among = ids === undefined ? sql`` : sql`and id in (${sql.join(ids)})`
    const here = sql`database = ${database} and collection = ${collection} ${among}`
    const { isWithin, order } = sqlOfRange(range)
    const end = range.isDescending ? sql`min` : sql`max`
    for (let size: number = PAGE.max; ; ) {
      // Sizes first: this many documents of the maximum size would take too much memory.
      const [measured] = await select(sql<Measured>`
        select cast(count(*) as integer) as scanned,
          cast(coalesce(sum(octet_length(body)), 0) as integer) as bytes, ${end}(id) as last
        from (
          select id, body from documents where ${here} and ${isWithin}
          ${order} limit ${limitRows(size)}
        ) as batch`)
      invariant(measured, 'an aggregate has a row')
      const { scanned, bytes, last } = measured
      if (last === null) return { scanned, last: undefined, isEnd: true, documents: [] }
      if (bytes > BATCH_BYTES && scanned > 1) {
        size = Math.max(1, Math.min(scanned - 1, Math.floor((scanned * BATCH_BYTES) / bytes)))
        continue
      }
      const contained = required.map((texts) => {
        const alternatives = texts.map((text) => sql`${position}(body, ${text}) > 0`)
        return sql`and (${sql.join(alternatives, sql` or `)})`
      })
      const documents = await select(sql<IndexedDocument>`
        select id, tag, body from documents
        where ${here} and ${sqlOfRange({ ...range, last }).isWithin} ${sql.join(contained, sql` `)}
        ${order}`)
      return { scanned, last, isEnd: scanned < size, documents }
    }
  }
}
