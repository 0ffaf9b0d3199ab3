import { sql, type Transaction } from 'kysely'
import { Failure } from '../failure.ts'
import { requireDatabase } from '../storage/database-exists.ts'
import type { EngineName } from '../storage/engine.ts'
import type { Tables } from '../storage/tables.ts'
import type { DocumentRules, Job, Merge } from './job.ts'

/** So many documents, and so many bytes of them, are changed by one statement: some ms of work. */
const CHANGED = { documents: 4_000, bytes: 512 * 1024 } as const

/** How many documents are changed one by one between two pauses. */
const SOME = 50

/** So long a transaction merges documents that have moved on, ms: others wait for it. */
export const MERGE_TIME = 5_000

/** Makes what a job has prepared visible, all of it; how many documents it is. */
export type Apply = (trx: Transaction<Tables>) => Promise<number>

/** A job in the transaction of its last change. */
interface Target {
  readonly trx: Transaction<Tables>
  readonly engine: EngineName
  readonly rules: Pick<DocumentRules, 'createTag' | 'fits'>
  readonly job: Job
  readonly merge: Merge | undefined
  readonly pause: () => Promise<unknown>
}

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
 * @param now tells ms since 1970.
 * @throws Failure `conflict` where an id has been given since; `database-not-found`; `busy` where merging
 * what has moved on takes longer than {@link MERGE_TIME}; as
 * {@link DocumentRules.merger} where a document that has moved on cannot become what is asked.
 */
export async function prepareApply(
  engine: EngineName,
  rules: DocumentRules,
  job: Job,
  pause: () => Promise<unknown>,
  now: () => number,
): Promise<Apply> {
  const { patch } = job.request
  const merge = patch === undefined ? undefined : limited(await rules.merger(job, patch), now)
  const change = async (target: Target, range: Range): Promise<number> => {
    if (job.kind === 'create') return create(target, range)
    const unmoved = job.kind === 'delete' ? deleteUnmoved : patchUnmoved
    return (await unmoved(target, range)) + (await changeMoved(target, range))
  }
  return async (trx) => {
    const target = { trx, engine, rules, job, merge, pause }
    await requireDatabase(trx, job.database)
    if (job.kind === 'list') return job.found
    let changed = 0
    let range = await rangeAfter(target, '')
    while (range !== undefined) {
      changed += await change(target, range)
      await pause()
      range = await rangeAfter(target, range.last)
    }
    return changed
  }
}

/** Lets merges take {@link MERGE_TIME} together: a schema may make each of them slow. */
function limited(merge: Merge, now: () => number): Merge {
  let spent = 0
  return async (id, body) => {
    const begun = now()
    const merged = await merge(id, body)
    spent += now() - begun
    if (spent <= MERGE_TIME) return merged
    throw new Failure(
      'busy',
      'Documents have changed in the meantime, and checking them again takes too long. Nothing was ' +
        'changed. Try again.',
    )
  }
}

/** The next documents that are changed together: at least one, undefined where there is none left. */
async function rangeAfter({ trx, job }: Target, after: string): Promise<Range | undefined> {
  const some = trx
    .selectFrom('job_documents')
    .select(['id', 'body'])
    .where('job', '=', job.id)
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

async function create(target: Target, range: Range): Promise<number> {
  const { trx, job } = target
  const { numAffectedRows = 0n } = await sql`
    insert into documents (database, collection, id, tag, body)
    select ${param(job.database)}, ${param(job.collection)}, id, tag, body
    from job_documents where job = ${job.id} and id > ${range.after} and id <= ${range.last}
    order by id
    on conflict do nothing`.execute(trx)
  if (Number(numAffectedRows) === range.count) return range.count
  const [taken = ''] = await movedIds(target, range)
  const id = JSON.stringify(taken.slice(0, 64))
  throw new Failure('conflict', `There is a document with the id ${id}.`)
}

async function deleteUnmoved(target: Target, range: Range): Promise<number> {
  const { numDeletedRows } = await target.trx
    .deleteFrom('documents')
    .where(isIn(target, range))
    .where('tag', '=', takenOf(target).select('taken.seen'))
    .executeTakeFirst()
  return Number(numDeletedRows)
}

async function patchUnmoved(target: Target, range: Range): Promise<number> {
  const { numAffectedRows = 0n } = await sql`
    update documents
    set (tag, body) = ${takenOf(target).select(['taken.tag', 'taken.body'])}
    where ${isIn(target, range)}
    and tag = ${takenOf(target).select('taken.seen')}`.execute(target.trx)
  return Number(numAffectedRows)
}

/** Changes the documents of a range that somebody has changed since the job looked at them. */
async function changeMoved(target: Target, range: Range): Promise<number> {
  let changed = 0
  for (const [at, id] of (await movedIds(target, range)).entries()) {
    if (await changeOne(target, id)) changed++
    if (at % SOME === SOME - 1) await target.pause()
  }
  return changed
}

/** Returns whether a document still fits and was changed; repeats where it changes in between. */
async function changeOne({ trx, rules, job, merge }: Target, id: string): Promise<boolean> {
  for (;;) {
    const place = { database: job.database, collection: job.collection, id }
    const found = await trx
      .selectFrom('documents')
      .select(['tag', 'body'])
      .where((eb) => eb.and(place))
      .executeTakeFirst()
    if (found === undefined || !rules.fits(found.body, job.request.filter)) return false
    const state = { ...place, tag: found.tag }
    const query =
      merge === undefined
        ? trx.deleteFrom('documents').where((eb) => eb.and(state))
        : trx
            .updateTable('documents')
            .set({ tag: rules.createTag(), body: await merge(id, found.body) })
            .where((eb) => eb.and(state))
    const { numAffectedRows } = await trx.executeQuery(query.compile())
    if (numAffectedRows === 1n) return true
  }
}

/** Returns the ids of the documents of a range that are stored in a state that the job has not made. */
async function movedIds(target: Target, range: Range): Promise<string[]> {
  const rows = await target.trx
    .selectFrom('documents')
    .select('id')
    .where(isIn(target, range))
    .where('tag', '!=', takenOf(target).select('taken.tag'))
    .execute()
  return rows.map(({ id }) => id)
}

/**
 * Returns the condition that a document is one of a range. Both engines look each one up by its whole
 * key. PostgreSQL needs an array for that: it plans `in` as a join. Before a table is analyzed for the
 * first time, it estimates one row, and the join reads the whole range for each document.
 */
function isIn({ trx, engine, job }: Target, { after, last }: Range) {
  const ids = trx
    .selectFrom('job_documents as taken')
    .where('taken.job', '=', job.id)
    .where('taken.id', '>', after)
    .where('taken.id', '<=', last)
  if (engine === 'sqlite') {
    return sql<boolean>`database = ${job.database} and collection = ${job.collection}
      and id in ${ids.select('taken.id')}`
  }
  const rows = ids.select((eb) =>
    eb
      .selectFrom('documents as found')
      .select(sql`found.ctid`.as('ctid'))
      .where('found.database', '=', job.database)
      .where('found.collection', '=', job.collection)
      .whereRef('found.id', '=', 'taken.id')
      .as('ctid'),
  )
  return sql<boolean>`documents.ctid = any(array${rows})`
}

/** Selects what the job has taken of a document; a subquery, for the same reason. */
const takenOf = ({ trx, job }: Target) =>
  trx
    .selectFrom('job_documents as taken')
    .where('taken.job', '=', job.id)
    .where('taken.id', '=', sql.ref<string>('documents.id'))

/** A value in a place where PostgreSQL cannot tell its type. */
const param = (text: string) => sql`cast(${text} as text)`
