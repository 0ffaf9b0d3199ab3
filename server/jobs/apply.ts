import { sql, type Transaction } from 'kysely'
import { SYSTEM_DATABASE } from '../contract/database.ts'
import { Failure } from '../failure.ts'
import type { Tables } from '../storage/tables.ts'
import type { DocumentRules, Job, Merge } from './job.ts'

/** So many documents, and so many bytes of them, are changed by one statement: some ms of work. */
const CHANGED = { documents: 4_000, bytes: 512 * 1024 } as const

/** How many documents that have moved on are looked at together. */
const SOME = 50

/** Makes what a job has prepared visible, all of it; how many documents it is. */
export type Apply = (trx: Transaction<Tables>) => Promise<number>

/** Documents that a job has taken, in id order: those after one, up to another. */
interface Range {
  readonly after: string
  readonly last: string
  readonly count: number
}

/**
 * The last change of a job. It runs in one transaction, so that others see all of it or nothing. It is
 * made of many statements, and between two of them others have their turn to read; on SQLite writes
 * wait until it has ended.
 *
 * @param pause awaited between two statements; must not wait for anything outside.
 * @throws Failure `conflict` where an id has been given since; `database-not-found`; as
 * {@link DocumentRules.merger} where a document that has moved on cannot become what is asked.
 */
export function prepareApply(rules: DocumentRules, job: Job, pause: () => Promise<unknown>): Apply {
  const { patch } = job.request
  const merge = patch === undefined ? undefined : rules.merger(job, patch)
  const change = async (trx: Transaction<Tables>, range: Range): Promise<number> => {
    if (job.kind === 'create') return create(trx, job, range)
    const unmoved = job.kind === 'delete' ? deleteUnmoved : patchUnmoved
    return (await unmoved(trx, job, range)) + (await again(trx, rules, job, range, merge))
  }
  return async (trx) => {
    await requireDatabase(trx, job)
    if (job.kind === 'list') return job.found
    let changed = 0
    let range = await rangeAfter(trx, job, '')
    while (range !== undefined) {
      changed += await change(trx, range)
      await pause()
      range = await rangeAfter(trx, job, range.last)
    }
    return changed
  }
}

/** The next documents that are changed together: at least one, undefined where there is none left. */
async function rangeAfter(
  trx: Transaction<Tables>,
  { id }: Job,
  after: string,
): Promise<Range | undefined> {
  const some = trx
    .selectFrom('job_documents')
    .select(['id', 'body'])
    .where('job', '=', id)
    .where('id', '>', after)
    .orderBy('id')
    .limit(CHANGED.documents)
    .as('some')
  const summed = trx
    .selectFrom(some)
    .select(['id', sql<number>`sum(octet_length(body)) over (order by id)`.as('bytes')])
    .as('summed')
  const { last, first, count } = await trx
    .selectFrom(summed)
    .select(({ fn }) => [
      fn.max('id').filterWhere('bytes', '<=', CHANGED.bytes).as('last'),
      fn.min('id').as('first'),
      fn.countAll().filterWhere('bytes', '<=', CHANGED.bytes).as('count'),
    ])
    .executeTakeFirstOrThrow()
  if (first === null) return undefined
  // A single one may be larger than that.
  return { after, last: last ?? first, count: Math.max(1, Number(count)) }
}

/** What is stored for a database that is gone would never be deleted. */
async function requireDatabase(trx: Transaction<Tables>, { database }: Job): Promise<void> {
  if (database === SYSTEM_DATABASE) return
  const found = await trx
    .selectFrom('databases')
    .select('id')
    .where('id', '=', database)
    .executeTakeFirst()
  if (found === undefined) throw new Failure('database-not-found', 'database not found')
}

async function create(trx: Transaction<Tables>, job: Job, range: Range): Promise<number> {
  const { numAffectedRows = 0n } = await sql`
    insert into documents (database, collection, id, tag, body)
    select ${param(job.database)}, ${param(job.collection)}, id, tag, body
    from job_documents where job = ${job.id} and id > ${range.after} and id <= ${range.last}
    order by id
    on conflict do nothing`.execute(trx)
  if (Number(numAffectedRows) === range.count) return range.count
  const taken = await present(trx, job, range)
    .select('documents.id')
    .whereRef('documents.tag', '!=', 'taken.tag')
    .limit(1)
    .executeTakeFirst()
  const id = JSON.stringify(taken?.id.slice(0, 64))
  throw new Failure('conflict', `There is a document with the id ${id}.`)
}

async function deleteUnmoved(trx: Transaction<Tables>, job: Job, range: Range): Promise<number> {
  const { numAffectedRows = 0n } = await sql`
    delete from documents
    where database = ${job.database} and collection = ${job.collection}
    and (id, tag) in (
      select id, seen from job_documents
      where job = ${job.id} and id > ${range.after} and id <= ${range.last}
    )`.execute(trx)
  return Number(numAffectedRows)
}

async function patchUnmoved(trx: Transaction<Tables>, job: Job, range: Range): Promise<number> {
  const { numAffectedRows = 0n } = await sql`
    update documents set tag = taken.tag, body = taken.body
    from job_documents as taken
    where taken.job = ${job.id} and taken.id > ${range.after} and taken.id <= ${range.last}
    and documents.database = ${job.database}
    and documents.collection = ${job.collection}
    and documents.id = taken.id and documents.tag = taken.seen`.execute(trx)
  return Number(numAffectedRows)
}

/** Looks again at documents that somebody has changed since the job looked at them. */
async function again(
  trx: Transaction<Tables>,
  rules: DocumentRules,
  job: Job,
  range: Range,
  merge: Merge | undefined,
): Promise<number> {
  let changed = 0
  let { after } = range
  for (;;) {
    const rows = await present(trx, job, { ...range, after })
      .select(['documents.id', 'documents.tag', 'documents.body'])
      .whereRef('documents.tag', '!=', 'taken.tag')
      .orderBy('taken.id')
      .limit(SOME)
      .execute()
    for (const { id, tag, body } of rows) {
      if (!rules.fits(body, job.request.filter)) {
        after = id
        continue
      }
      const place = { database: job.database, collection: job.collection, id }
      const query =
        merge === undefined
          ? trx.deleteFrom('documents').where((eb) => eb.and({ ...place, tag }))
          : trx
              .updateTable('documents')
              .set({ tag: rules.createTag(), body: await merge(id, body) })
              .where((eb) => eb.and({ ...place, tag }))
      const { numAffectedRows } = await trx.executeQuery(query.compile())
      // It has moved on once more: read anew, for `after` stays before it.
      if (numAffectedRows !== 1n) break
      after = id
      changed++
    }
    if (rows.length === 0) return changed
  }
}

/** The documents of a range that the job has taken and that are there. */
const present = (
  trx: Transaction<Tables>,
  { id, database, collection }: Job,
  { after, last }: Pick<Range, 'after' | 'last'>,
) =>
  trx
    .selectFrom('job_documents as taken')
    .innerJoin('documents', (join) =>
      join
        .on('documents.database', '=', database)
        .on('documents.collection', '=', collection)
        .onRef('documents.id', '=', 'taken.id'),
    )
    .where('taken.job', '=', id)
    .where('taken.id', '>', after)
    .where('taken.id', '<=', last)

/** A value in a place where PostgreSQL cannot tell its type. */
const param = (text: string) => sql`cast(${text} as text)`
