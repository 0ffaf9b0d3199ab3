import { sql, type Transaction } from 'kysely'
import { SYSTEM_DATABASE } from '../contract/database.ts'
import { Failure } from '../failure.ts'
import type { Tables } from '../storage/tables.ts'
import type { DocumentRules, Job, Merge } from './job.ts'

/** How many documents that have moved on are looked at together. */
const SOME = 50

/** Makes what a job has prepared visible, all of it; how many documents it is. */
export type Apply = (trx: Transaction<Tables>) => Promise<number>

/**
 * The last change of a job. It runs in one transaction, so that others see all of it or nothing:
 * 100,000 documents take about half a second, for which writes of others wait.
 *
 * @throws Failure `conflict` where an id has been given since; `database-not-found`; as
 * {@link DocumentRules.merger} where a document that has moved on cannot become what is asked.
 */
export function prepareApply(rules: DocumentRules, job: Job): Apply {
  const { patch } = job.request
  const merge = patch === undefined ? undefined : rules.merger(job, patch)
  return async (trx) => {
    await requireDatabase(trx, job)
    switch (job.kind) {
      case 'create':
        return create(trx, job)
      case 'delete':
        return (await deleteUnmoved(trx, job)) + (await again(trx, rules, job, undefined))
      case 'patch':
        return (await patchUnmoved(trx, job)) + (await again(trx, rules, job, merge))
      case 'list':
        return job.found
    }
  }
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

async function create(trx: Transaction<Tables>, job: Job): Promise<number> {
  const { numAffectedRows = 0n } = await sql`
    insert into documents (database, collection, id, tag, body)
    select ${param(job.database)}, ${param(job.collection)}, id, tag, body
    from job_documents where job = ${job.id} order by id
    on conflict do nothing`.execute(trx)
  if (Number(numAffectedRows) === job.found) return job.found
  const taken = await present(trx, job)
    .select('documents.id')
    .whereRef('documents.tag', '!=', 'taken.tag')
    .limit(1)
    .executeTakeFirst()
  const id = JSON.stringify(taken?.id.slice(0, 64))
  throw new Failure('conflict', `There is a document with the id ${id}.`)
}

async function deleteUnmoved(trx: Transaction<Tables>, job: Job): Promise<number> {
  const { numAffectedRows = 0n } = await sql`
    delete from documents
    where database = ${job.database} and collection = ${job.collection}
    and (id, tag) in (select id, seen from job_documents where job = ${job.id})`.execute(trx)
  return Number(numAffectedRows)
}

async function patchUnmoved(trx: Transaction<Tables>, job: Job): Promise<number> {
  const { numAffectedRows = 0n } = await sql`
    update documents set tag = taken.tag, body = taken.body
    from job_documents as taken
    where taken.job = ${job.id} and documents.database = ${job.database}
    and documents.collection = ${job.collection}
    and documents.id = taken.id and documents.tag = taken.seen`.execute(trx)
  return Number(numAffectedRows)
}

/** Looks again at documents that somebody has changed since the job looked at them. */
async function again(
  trx: Transaction<Tables>,
  rules: DocumentRules,
  job: Job,
  merge: Merge | undefined,
): Promise<number> {
  let changed = 0
  let after = ''
  for (;;) {
    const rows = await present(trx, job)
      .select(['documents.id', 'documents.tag', 'documents.body'])
      .whereRef('documents.tag', '!=', 'taken.tag')
      .where('taken.id', '>', after)
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

/** The documents that the job has taken and that are there. */
const present = (trx: Transaction<Tables>, { id, database, collection }: Job) =>
  trx
    .selectFrom('job_documents as taken')
    .innerJoin('documents', (join) =>
      join
        .on('documents.database', '=', database)
        .on('documents.collection', '=', collection)
        .onRef('documents.id', '=', 'taken.id'),
    )
    .where('taken.job', '=', id)

/** A value in a place where PostgreSQL cannot tell its type. */
const param = (text: string) => sql`cast(${text} as text)`
