import { type Kysely, sql } from 'kysely'
import type { Tables } from '../storage/tables.ts'
import type { Job } from './job.ts'

/**
 * Maximum number of documents and of bytes that one statement changes, a few milliseconds of work.
 */
const STATEMENT_LIMIT = { documents: 4_000, bytes: 512 * 1024 } as const

/** Documents that a job has staged, in id order: those after `after`, up to `last`. */
export interface Range {
  readonly after: string
  readonly last: string
  readonly count: number
}

/** Maximum number of documents that are changed together, and of their bytes. */
export interface BatchLimit {
  readonly documents: number
  readonly bytes: number
  /** Whether deleted documents count with their stored size; otherwise they count as 0 bytes. */
  readonly countsDeleted?: true
}

/** Returns the next documents to change together, at least one; undefined if none are left. */
export async function rangeAfter(
  db: Kysely<Tables>,
  job: Job,
  after: string,
  limit: BatchLimit = STATEMENT_LIMIT,
): Promise<Range | undefined> {
  const some = db
    .selectFrom('job_documents')
    .select(['id', 'body'])
    .where('job', '=', job.id)
    .where('id', '>', after)
    .orderBy('id')
    .limit(limit.documents)
    .as('some')
  const length =
    job.kind === 'delete' && limit.countsDeleted
      ? sql`(select octet_length(documents.body) from documents
          where documents.database = ${job.database} and documents.collection = ${job.collection}
          and documents.id = some.id)`
      : sql`octet_length(body)`
  const summed = db
    .selectFrom(some)
    .select(['id', sql<number>`sum(coalesce(${length}, 0)) over (order by id)`.as('bytes')])
    .as('summed')
  const { last, first, count } = await db
    .selectFrom(summed)
    .select(({ fn }) => [
      fn.max('id').filterWhere('bytes', '<=', limit.bytes).as('last'),
      fn.min('id').as('first'),
      fn.countAll().filterWhere('bytes', '<=', limit.bytes).as('count'),
    ])
    .executeTakeFirstOrThrow()
  if (first === null) return undefined
  // A single document may exceed the limit.
  return { after, last: last ?? first, count: Math.max(1, Number(count)) }
}
