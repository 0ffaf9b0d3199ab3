import { sql, type Transaction } from 'kysely'
import type { CollectionIndexes } from '../documents/indexes/write/collection-indexes.ts'
import { DocumentConflict, Failure } from '../failure.ts'
import type { EngineName } from '../storage/engine.ts'
import { requireDatabase } from '../storage/sql/database-exists.ts'
import type { Tables } from '../storage/tables.ts'
import type { DocumentRules, Job, Merge } from './job.ts'
import { type Range, rangeAfter } from './range.ts'
import { addStaged, removeStored } from './reindex.ts'

/** Number of documents changed one by one between two pauses. */
const CHANGES_PER_TURN = 50

/**
 * Maximum time that a transaction merges documents which have changed since the scan, ms. Other
 * writes wait for it.
 */
export const MERGE_TIME = 5_000

/** Makes all staged changes of a job visible at once; returns the number of documents. */
export type Apply = (trx: Transaction<Tables>) => Promise<number>

/** Awaited between two statements of a transaction; must not wait for external events. */
export type ApplyPause = (trx: Transaction<Tables>) => Promise<unknown>

/** A job in the transaction of its last change. */
interface Target {
  readonly trx: Transaction<Tables>
  readonly engine: EngineName
  readonly rules: Pick<DocumentRules, 'createTag'>
  readonly matches: (body: string) => boolean | Promise<boolean>
  readonly job: Job
  readonly merge: Merge | undefined
  readonly pause: () => Promise<unknown>
  readonly indexes: CollectionIndexes | undefined
}

/**
 * Prepares the last change of a job. The change runs in one transaction, so that readers see all of
 * it or nothing. It yields between its statements so that other requests can read; on SQLite,
 * writes wait until it ends.
 *
 * @param steady returns the time of a monotonic clock, ms.
 * @throws Failure `conflict` if an id was taken since the scan; `database-not-found`; `busy` if
 * merging changed documents takes longer than {@link MERGE_TIME}; the errors of
 * {@link DocumentRules.merger} for a changed document that the patch makes invalid.
 */
export async function prepareApply(
  engine: EngineName,
  rules: DocumentRules,
  job: Job,
  pause: ApplyPause,
  steady: () => number,
): Promise<Apply> {
  const { filter, patch } = job.request
  const matches = rules.matcher(filter)
  const merger = patch === undefined ? undefined : await rules.merger(job, patch)
  const change = async (target: Target, range: Range): Promise<number> => {
    if (job.kind === 'create') return create(target, range)
    const changeUnchanged = job.kind === 'delete' ? deleteUnchanged : patchUnchanged
    return (await changeUnchanged(target, range)) + (await mergeChanged(target, range))
  }
  return async (trx) => {
    await requireDatabase(trx, job.database)
    if (job.kind === 'list') return job.found
    await rules.lockDocuments(trx, engine)
    const indexes = await rules.openIndexes(trx, engine, job)
    // The transaction may run again, with all of its time.
    const merge = merger && withTimeLimit(merger, steady)
    const between = () => pause(trx)
    const target = { trx, engine, rules, matches, job, merge, pause: between, indexes }
    let changed = 0
    let range = await rangeAfter(trx, job, '')
    while (range !== undefined) {
      changed += await change(target, range)
      await between()
      range = await rangeAfter(trx, job, range.last)
    }
    return changed
  }
}

/**
 * Returns a merge that fails with `busy` once its calls have taken {@link MERGE_TIME} in total. A
 * schema can make each of them slow.
 *
 * @param steady returns the time of a monotonic clock, ms.
 */
export function withTimeLimit(merge: Merge, steady: () => number): Merge {
  let spent = 0
  return async (id, body) => {
    const begun = steady()
    const merged = await merge(id, body)
    spent += steady() - begun
    if (spent <= MERGE_TIME) return merged
    throw new Failure(
      'busy',
      'Documents were changed at the same time, and validating them again takes too long. Nothing was ' +
        'changed. Try again.',
    )
  }
}

async function create(target: Target, range: Range): Promise<number> {
  const { trx, job } = target
  const { numAffectedRows = 0n } = await sql`
    insert into documents (database, collection, id, tag, body)
    select ${param(job.database)}, ${param(job.collection)}, id, tag, body
    from job_documents where job = ${job.id} and id > ${range.after} and id <= ${range.last}
    order by id
    on conflict do nothing`.execute(trx)
  if (Number(numAffectedRows) === range.count) {
    if (target.indexes !== undefined) {
      await addStaged(target, target.indexes.add, isWithin(range))
    }
    return range.count
  }
  const [existing = ''] = await changedIds(target, range)
  throw existsAlready(existing)
}

/** Returns the failure of a creation whose document has an id that exists. */
export const existsAlready = (id: string) =>
  new DocumentConflict(
    id,
    `A document with the id ${JSON.stringify(id.slice(0, 64))} already exists.`,
    { field: '/id' },
  )

/**
 * Removes the documents of a range that have not changed since the scan from the indexes, and keeps
 * other transactions from changing them.
 */
async function removeUnchanged(target: Target, range: Range): Promise<void> {
  const { engine, indexes } = target
  if (indexes === undefined) return
  const isStaged = isIn(target, range)
  const isUnchanged = sql<boolean>`${isStaged} and tag = ${stagedOf(target).select('staged.seen')}`
  await removeStored(target, indexes, isUnchanged, engine === 'postgres')
}

async function deleteUnchanged(target: Target, range: Range): Promise<number> {
  await removeUnchanged(target, range)
  const { numDeletedRows } = await target.trx
    .deleteFrom('documents')
    .where(isIn(target, range))
    .where('tag', '=', stagedOf(target).select('staged.seen'))
    .executeTakeFirst()
  return Number(numDeletedRows)
}

async function patchUnchanged(target: Target, range: Range): Promise<number> {
  const { job, indexes, trx } = target
  await removeUnchanged(target, range)
  const { numAffectedRows = 0n } = await sql`
    update documents
    set (tag, body) = ${stagedOf(target).select(['staged.tag', 'staged.body'])}
    where ${isIn(target, range)}
    and tag = ${stagedOf(target).select('staged.seen')}`.execute(trx)
  const isPatched = sql<boolean>`${isWithin(range)} and staged.tag = (
    select tag from documents where database = ${job.database}
    and collection = ${job.collection} and documents.id = staged.id)`
  if (indexes !== undefined) await addStaged(target, indexes.add, isPatched)
  return Number(numAffectedRows)
}

/** Changes the documents of a range that have changed since the job scanned them. */
async function mergeChanged(target: Target, range: Range): Promise<number> {
  let changed = 0
  for (const [at, id] of (await changedIds(target, range)).entries()) {
    if (await changeOne(target, id)) changed++
    if (at % CHANGES_PER_TURN === CHANGES_PER_TURN - 1) await target.pause()
  }
  return changed
}

/**
 * Changes a document if it still matches; retries if it changes concurrently. Returns whether it
 * was changed.
 */
async function changeOne(
  { trx, rules, matches, job, merge, indexes }: Target,
  id: string,
): Promise<boolean> {
  for (;;) {
    const ref = { database: job.database, collection: job.collection, id }
    const found = await trx
      .selectFrom('documents')
      .select(['tag', 'body'])
      .where((eb) => eb.and(ref))
      .executeTakeFirst()
    if (found === undefined || !(await matches(found.body))) return false
    const state = { ...ref, tag: found.tag }
    const body = await merge?.(id, found.body)
    const query =
      body === undefined
        ? trx.deleteFrom('documents').where((eb) => eb.and(state))
        : trx
            .updateTable('documents')
            .set({ tag: rules.createTag(), body })
            .where((eb) => eb.and(state))
    const { numAffectedRows } = await trx.executeQuery(query.compile())
    if (numAffectedRows !== 1n) continue
    await indexes?.remove([{ id, body: found.body }])
    if (body !== undefined) await indexes?.add([{ id, body }])
    return true
  }
}

/** Returns the ids of the documents of a range that differ from the state which the job scanned. */
async function changedIds(target: Target, range: Range): Promise<string[]> {
  const rows = await target.trx
    .selectFrom('documents')
    .select('id')
    .where(isIn(target, range))
    .where('tag', '!=', stagedOf(target).select('staged.tag'))
    .execute()
  return rows.map(({ id }) => id)
}

/**
 * Returns the condition that a document is in a range. Both engines look up each document by its
 * whole key. PostgreSQL needs an array for that, because it plans `in` as a join: before a table is
 * first analyzed, it estimates one row, and the join reads the whole range for each document.
 */
function isIn({ trx, engine, job }: Target, { after, last }: Range) {
  const ids = trx
    .selectFrom('job_documents as staged')
    .where('staged.job', '=', job.id)
    .where('staged.id', '>', after)
    .where('staged.id', '<=', last)
  if (engine === 'sqlite') {
    return sql<boolean>`database = ${job.database} and collection = ${job.collection}
      and id in ${ids.select('staged.id')}`
  }
  const rows = ids.select((eb) =>
    eb
      .selectFrom('documents as found')
      .select(sql`found.ctid`.as('ctid'))
      .where('found.database', '=', job.database)
      .where('found.collection', '=', job.collection)
      .whereRef('found.id', '=', 'staged.id')
      .as('ctid'),
  )
  return sql<boolean>`documents.ctid = any(array${rows})`
}

const isWithin = ({ after, last }: Range) =>
  sql<boolean>`staged.id > ${after} and staged.id <= ${last}`

/** Selects the staged state of a document. A subquery, because of the plans in {@link isIn}. */
const stagedOf = ({ trx, job }: Target) =>
  trx
    .selectFrom('job_documents as staged')
    .where('staged.job', '=', job.id)
    .where('staged.id', '=', sql.ref<string>('documents.id'))

/** Casts a value where PostgreSQL cannot infer its type. */
const param = (text: string) => sql`cast(${text} as text)`
