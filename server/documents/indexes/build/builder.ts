import { sql } from 'kysely'
import { createBackgroundLoop } from '../../../concurrency/background-loop.ts'
import { nextRevision } from '../../../storage/changes/begin-change.ts'
import { limitBytes } from '../../../storage/changes/portions.ts'
import type { Store } from '../../../storage/store.ts'
import { addDuplicates, toDefinition } from '../definition.ts'
import type { IndexRepository, IndexRow } from '../index-repository.ts'
import { addToIndexes } from '../write/collection-indexes.ts'

/** Number of entries that one statement deletes, a few milliseconds of work. */
const DELETE_BATCH = 1_000

/** Delay before a step is repeated after a conflict with another transaction, ms. */
const RETRY_DELAY = 50

export interface BuilderDeps {
  readonly store: Store
  readonly repository: IndexRepository
  /** Returns whether this node builds the indexes. */
  readonly holdsBuildLock: () => Promise<boolean>
  /** Awaited between two steps, so that other requests can run. */
  readonly pause: () => Promise<unknown>
  /** Called when an index is no longer built: it is ready, failed or dropped. */
  readonly onEnded: () => void
  readonly onError: (error: unknown) => void
  readonly stepLimits?: StepLimits
}

/** Creates a loop that builds indexes and deletes the entries of dropped ones, until none is left. */
export function createBuilder(deps: BuilderDeps) {
  const { store, repository, holdsBuildLock, pause, onEnded, onError, stepLimits } = deps
  const retryDelay = () => new Promise((resolve) => setTimeout(resolve, RETRY_DELAY))

  async function build(row: IndexRow, isStopped: () => boolean): Promise<void> {
    await waitForWriters(store, retryDelay, isStopped)
    const upTo = await lastId(store, row)
    const total = row.total ?? (await countDocuments(store, row, pause, isStopped))
    for (let current: IndexRow = { ...row, total }; !isStopped(); await pause()) {
      try {
        const next = await buildStep(store, current, upTo, stepLimits)
        if (next === undefined) {
          await completeBuild(store, current)
          return onEnded()
        }
        current = next
      } catch (error) {
        if (!(error instanceof Contended)) throw error
        await retryDelay()
        const [stored] = (await repository.list(row)).filter(({ id }) => id === row.id)
        if (stored?.state !== 'building') return onEnded()
        current = { ...stored, total }
      }
    }
  }

  async function clean(row: IndexRow, isStopped: () => boolean): Promise<void> {
    await waitForWriters(store, retryDelay, isStopped)
    while (!isStopped()) {
      if (!(await repository.deleteEntries(row, DELETE_BATCH))) return repository.delete(row)
      await pause()
    }
  }

  return createBackgroundLoop(async (isStopped) => {
    if (!(await holdsBuildLock())) return
    await repository.dropOrphans()
    for (;;) {
      const row = isStopped() ? undefined : await repository.next()
      if (row === undefined) return
      await (row.state === 'building' ? build(row, isStopped) : clean(row, isStopped))
      await pause()
    }
  }, onError)
}

/** Maximum number of documents that a transaction indexes, and of their bytes: a few ms of work. */
const STEP_LIMITS = { documents: 250, bytes: 256 * 1024 } as const

type StepLimits = Readonly<Record<keyof typeof STEP_LIMITS, number>>

/** Number of documents that one statement counts, about a millisecond of work. */
const COUNT_BATCH = 5_000

/** Another transaction is changing a document of the step, or the index. Try again. */
export class Contended extends Error {}

/**
 * Indexes some documents, in one transaction; returns the changed row, or undefined if no document
 * is left. A build continues after a unique index has found duplicates, to find all of them.
 *
 * @param upTo the last id when the build began. Documents that were created later are indexed by
 * the transactions that create them.
 * @throws Contended
 */
export async function buildStep(
  { db, engine, transaction }: Store,
  row: IndexRow,
  upTo: string,
  limits: StepLimits = STEP_LIMITS,
): Promise<IndexRow | undefined> {
  const after = row.cursor ?? ''
  // A single upper bound: SQLite searches by one of two bounds only, and tests each document for the
  // other.
  const until = (source: Pick<typeof db, 'selectFrom'>, last: string) =>
    source
      .selectFrom('documents')
      .where('database', '=', row.database)
      .where('collection', '=', row.collection)
      .where('id', '>', after)
      .where('id', '<=', last)
      .orderBy('id')
  const sizes = await until(db, upTo)
    .select(['id', sql<number>`octet_length(body)`.as('bytes')])
    .limit(limits.documents)
    .execute()
  const count = limitBytes(sizes, limits.bytes)
  const last = sizes[count - 1]
  if (last === undefined) return undefined
  return transaction(async (trx) => {
    // Avoids a deadlock with a transaction that waits for a document of this step.
    if (engine === 'postgres') await sql`set local lock_timeout = '100ms'`.execute(trx)
    const ids = await until(trx, last.id).select('id').execute()
    const documents = await until(trx, last.id)
      .select(['id', 'body'])
      .$if(engine === 'postgres', (query) => query.forShare().skipLocked())
      .execute()
    const locked = new Set(documents.map(({ id }) => id))
    if (ids.some(({ id }) => !locked.has(id))) throw new Contended()
    const found = await addToIndexes(trx, engine, [toDefinition(row)], documents, Infinity)
    const duplicates = addDuplicates(row, found)
    const next = { ...row, cursor: last.id, done: row.done + count, duplicates }
    const { numUpdatedRows } = await trx
      .updateTable('document_indexes')
      .set({ cursor: next.cursor, done: next.done, total: row.total, duplicates })
      .where('id', '=', row.id)
      .where('done', '=', row.done)
      .where('state', '=', 'building')
      .executeTakeFirst()
    // The index was dropped, or another node builds it.
    if (numUpdatedRows === 0n) throw new Contended()
    return next
  })
}

/** Ends a build after its last step. The index is ready unless there are duplicates. */
async function completeBuild({ change }: Store, { id, done, duplicates }: IndexRow): Promise<void> {
  await change(async (trx) => {
    const { numUpdatedRows } = await trx
      .updateTable('document_indexes')
      .set({ state: duplicates === null ? 'ready' : 'failed', cursor: null })
      .where('id', '=', id)
      .where('done', '=', done)
      .where('state', '=', 'building')
      .executeTakeFirst()
    // Notifies the other nodes.
    if (numUpdatedRows > 0n) await nextRevision(trx)
  })
}

/** Returns the last id of a collection; empty if it has no documents. */
async function lastId({ db }: Store, { database, collection }: IndexRow): Promise<string> {
  const { last } = await db
    .selectFrom('documents')
    .select(({ fn }) => fn.max('id').as('last'))
    .where('database', '=', database)
    .where('collection', '=', collection)
    .executeTakeFirstOrThrow()
  return last ?? ''
}

/** Returns the number of documents to index, counted in steps. */
async function countDocuments(
  { db }: Store,
  { database, collection }: IndexRow,
  pause: () => Promise<unknown>,
  isStopped: () => boolean,
): Promise<number | null> {
  let total = 0
  for (let after = ''; !isStopped(); await pause()) {
    const some = db
      .selectFrom('documents')
      .select('id')
      .where('database', '=', database)
      .where('collection', '=', collection)
      .where('id', '>', after)
      .orderBy('id')
      .limit(COUNT_BATCH)
      .as('some')
    const { count, last } = await db
      .selectFrom(some)
      .select(({ fn }) => [fn.countAll().as('count'), fn.max('id').as('last')])
      .executeTakeFirstOrThrow()
    total += Number(count)
    if (Number(count) < COUNT_BATCH || last === null) return total
    after = last
  }
  return null
}

/**
 * Waits for the transactions that are writing documents now, since they may not see an index that
 * was just created or dropped. SQLite runs one write transaction at a time, so none of them is left.
 */
async function waitForWriters(
  { db, engine }: Store,
  pause: () => Promise<unknown>,
  isStopped: () => boolean,
): Promise<void> {
  if (engine === 'sqlite') return
  const writers = async () => {
    const { rows } = await sql<{ id: string }>`
      select distinct virtualtransaction as id from pg_locks
      where relation = 'documents'::regclass and mode = 'RowExclusiveLock' and granted
      and database = (select oid from pg_database where datname = current_database())`.execute(db)
    return rows.map(({ id }) => id)
  }
  let before = new Set(await writers())
  while (before.size > 0 && !isStopped()) {
    await pause()
    before = new Set((await writers()).filter((id) => before.has(id)))
  }
}
