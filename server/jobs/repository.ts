import { randomBytes } from 'node:crypto'
import { sql, type Transaction } from 'kysely'
import { SYSTEM_DATABASE } from '../contract/database.ts'
import { MAX_SYNC_BULK_DOCUMENTS } from '../contract/document.ts'
import type { ImportResult } from '../contract/import.ts'
import { JOB_RETENTION, type JobKind, MAX_LISTINGS } from '../contract/job.ts'
import type { StoredPart } from '../documents/import/stored-part.ts'
import { Failure } from '../failure.ts'
import { limitBytes } from '../storage/changes/limit-bytes.ts'
import { lockedSchemaTag } from '../storage/current-schema.ts'
import { requireDatabase } from '../storage/database-exists.ts'
import type { CollectionRef } from '../storage/document-ref.ts'
import type { Store } from '../storage/open.ts'
import type { Tables } from '../storage/tables.ts'
import { type Job, type JobRequest, type JobState, type StagedDocument, toJob } from './job.ts'
import type { Range } from './range.ts'

/** How long a node holds a job after each step, ms. */
export const LEASE = 15_000

/** Maximum number of rows that one cleanup step deletes, and of their bytes. */
const CLEANUP_ROWS = 500
const CLEANUP_BYTES = 4 * 1024 * 1024

/** Number of rows per insert, because engines limit the parameters of a statement. */
const INSERT_ROWS = 100

/** One step of a job. */
export interface Step {
  /** Number of documents that were scanned. */
  readonly scanned: number
  readonly cursor: string | null
  /** Number of documents that will be created, changed or deleted, or are listed. */
  readonly found: number
  /** The documents to stage; empty for a listing. */
  readonly staged: readonly StagedDocument[]
}

/** The jobs of a store, with the leases of one node. */
export type JobRepository = ReturnType<typeof createJobRepository>

/**
 * Thrown if this node no longer holds a job: it was deleted or discarded, or another node took it
 * over.
 */
export class LeaseLost extends Error {}

/** Thrown if the schema of a collection has changed since the documents of a job were validated. */
export class SchemaChanged extends Error {}

/**
 * Returns the repository of jobs. `now` returns ms since 1970. All queries on its two tables are in
 * this file, because every state change depends on all others.
 */
export function createJobRepository({ db, engine, transaction }: Store, now: () => number) {
  const me = randomBytes(8).toString('hex')
  const lease = () => ({ claimed_by: me, claimed_until: now() + LEASE })

  /** Updates a job that this node holds in an unfinished state; otherwise throws {@link LeaseLost}. */
  async function own(trx: Transaction<Tables>, job: Job, set: Partial<Tables['jobs']>) {
    const row = await trx
      .updateTable('jobs')
      .set({ ...lease(), updated_at: now(), ...set })
      .where('id', '=', job.id)
      .where('claimed_by', '=', me)
      .where('state', 'in', ['preparing', 'attached', 'running'])
      .where('done', '=', job.done)
      .returningAll()
      .executeTakeFirst()
    if (row === undefined) throw new LeaseLost()
    return toJob(row)
  }

  /**
   * Checks that the documents of a job were validated by the collection's current schema.
   *
   * @throws SchemaChanged
   */
  async function requireSchema(trx: Transaction<Tables>, job: Job): Promise<void> {
    if (job.kind !== 'create' && job.kind !== 'patch') return
    if ((await lockedSchemaTag(trx, engine, job)) !== job.request.schema) throw new SchemaChanged()
  }

  return {
    /** Stores a job. Any node may claim it if it is `running`; otherwise this node holds it. */
    async create(
      { database, collection }: CollectionRef,
      kind: JobKind,
      state: JobState,
      request: JobRequest,
    ): Promise<Job> {
      const at = now()
      const row: Tables['jobs'] = {
        id: randomBytes(16).toString('base64url'),
        database,
        collection,
        kind,
        state,
        request: JSON.stringify(request),
        cursor: null,
        done: 0,
        total: null,
        found: 0,
        failure: null,
        result: null,
        clean: 0,
        claimed_by: me,
        claimed_until: state === 'running' ? 0 : at + LEASE,
        created_at: at,
        updated_at: at,
      }
      await db.insertInto('jobs').values(row).execute()
      return toJob(row)
    },

    /**
     * Stages documents of a job that is being prepared.
     *
     * @throws Failure `conflict` for a duplicate id.
     */
    stage(job: Job, staged: readonly StagedDocument[]): Promise<Job> {
      const [done, found] = [job.done + staged.length, job.found + staged.length]
      return transaction(async (trx) => {
        const next = await own(trx, job, { done, found })
        if ((await insert(trx, job, staged)) === staged.length) return next
        const duplicate = await firstDuplicate(trx, job, staged)
        throw new Failure(
          'conflict',
          `The id ${JSON.stringify(duplicate.slice(0, 64))} occurs twice.`,
        )
      })
    },

    /** Stages parts of an import, after `before` others. */
    stageParts(job: Job, parts: readonly StoredPart[], before: number): Promise<Job> {
      const records = parts.reduce((sum, part) => sum + part.records, job.total ?? 0)
      return transaction(async (trx) => {
        const next = await own(trx, job, { total: records })
        const rows = parts.map(({ text }, at) => {
          return { id: partId(before + at), seen: '', tag: '', body: text }
        })
        await insert(trx, job, rows)
        return next
      })
    },

    /** Returns the staged part of an import after another one; `after` is empty for the first. */
    async partAfter({ id: job }: Job, after: string) {
      const row = await db
        .selectFrom('job_documents')
        .select(['id', 'body as text'])
        .where('job', '=', job)
        .where('id', '>', after)
        .orderBy('id')
        .limit(1)
        .executeTakeFirst()
      return row
    },

    /** Stores the progress of an import in the transaction that stores its documents. */
    advanceImport(
      trx: Transaction<Tables>,
      job: Job,
      { cursor, result, done }: { cursor: string; result: ImportResult; done: number },
    ): Promise<Job> {
      const found = result.created + result.replaced
      const stored = JSON.stringify(result)
      return own(trx, job, { cursor, found, result: stored, done: job.done + done })
    },

    /** Ends the preparation. The job is `running` from now on, and any node may claim it. */
    begin: (job: Job): Promise<Job> =>
      transaction((trx) =>
        own(trx, job, { state: 'running', total: job.total ?? job.done, claimed_until: 0 }),
      ),

    /** Renews the lease of a job in preparation while no documents arrive. */
    async renew({ id }: Job): Promise<void> {
      await db
        .updateTable('jobs')
        .set(lease())
        .where('id', '=', id)
        .where('claimed_by', '=', me)
        .where('state', '=', 'preparing')
        .execute()
    },

    /** Returns the staged documents of a range. */
    staged: ({ id }: Job, { after, last }: Range) =>
      db
        .selectFrom('job_documents')
        .select(['id', 'body'])
        .where('job', '=', id)
        .where('id', '>', after)
        .where('id', '<=', last)
        .orderBy('id')
        .execute(),

    /** Renews the lease of a job. @throws LeaseLost */
    keep: (job: Job): Promise<Job> => transaction((trx) => own(trx, job, {})),

    /** Returns the bodies of staged documents, in the order of `ids`. */
    async bodies({ id }: Job, ids: readonly string[]): Promise<string[]> {
      const list = JSON.stringify(ids)
      // Subqueries, because PostgreSQL plans a join from statistics, which a new table lacks.
      const body = sql`select body from job_documents where job = ${id} and id = each.value`
      const { rows } = await (engine === 'sqlite'
        ? sql<{
            body: string
          }>`select (${body}) as body from json_each(${list}) as each order by key`
        : sql<{ body: string }>`
            select (${body}) as body
            from json_array_elements_text(cast(${list} as json)) with ordinality as each(value, at)
            order by at`
      ).execute(db)
      return rows.map(({ body }) => body)
    },

    async read(id: string): Promise<Job | undefined> {
      const row = await db.selectFrom('jobs').selectAll().where('id', '=', id).executeTakeFirst()
      return row && toJob(row)
    },

    /** Returns the number of unfinished jobs of a database. */
    async countUnfinished(database: string): Promise<number> {
      const { count } = await db
        .selectFrom('jobs')
        .select((eb) => eb.fn.countAll().as('count'))
        .where('state', 'in', ['preparing', 'attached', 'running'])
        .where('database', '=', database)
        .executeTakeFirstOrThrow()
      return Number(count)
    },

    /** Claims a running job whose lease has expired. */
    async claim(): Promise<Job | undefined> {
      const due = await db
        .selectFrom('jobs')
        .select(['id', 'claimed_until'])
        .where('state', '=', 'running')
        .where('claimed_until', '<', now())
        .orderBy('created_at')
        .limit(1)
        .executeTakeFirst()
      if (due === undefined) return undefined
      const row = await db
        .updateTable('jobs')
        .set(lease())
        .where('id', '=', due.id)
        .where('claimed_until', '=', due.claimed_until)
        .returningAll()
        .executeTakeFirst()
      return row && toJob(row)
    },

    /**
     * Releases this node's jobs, so that the next start or another node can resume them
     * immediately.
     */
    async release(): Promise<void> {
      await db
        .updateTable('jobs')
        .set({ claimed_until: 0 })
        .where('claimed_by', '=', me)
        .where('claimed_until', '>', 0)
        .execute()
    },

    /**
     * Releases the jobs of earlier processes on SQLite, which has a single node. On PostgreSQL,
     * leases expire instead.
     */
    async releaseDeadNodes(): Promise<void> {
      if (engine !== 'sqlite') return
      await db
        .updateTable('jobs')
        .set({ claimed_until: 0 })
        .where('claimed_until', '>', 0)
        .where('claimed_by', '!=', me)
        .execute()
    },

    /** Stores a step and the job's progress, both or neither. */
    advance(job: Job, { scanned, cursor, staged, ...step }: Step): Promise<Job> {
      const [done, found] = [job.done + scanned, job.found + step.found]
      return transaction(async (trx) => {
        const next = await own(trx, job, { cursor, done, found })
        await insert(trx, job, staged)
        return next
      })
    },

    /**
     * Completes a job, with its last change in the same transaction.
     *
     * @param keep whether the staged rows are kept until the job is discarded.
     * @throws Failure `database-not-found` if the database was dropped; SchemaChanged
     */
    finish(
      job: Job,
      apply: (trx: Transaction<Tables>) => Promise<number>,
      keep = false,
    ): Promise<Job> {
      const clean = keep ? 1 : 0
      // The cursor of a listing marks the end of its results.
      const end = { state: 'done', clean, cursor: job.kind === 'list' ? job.cursor : null }
      return transaction(async (trx) => {
        const ended = await own(trx, job, end)
        const found = await apply(trx)
        await trx.updateTable('jobs').set({ found }).where('id', '=', job.id).execute()
        // Checked last, because PostgreSQL lets another node drop the database during this change.
        await requireDatabase(trx, job.database)
        await requireSchema(trx, job)
        return { ...ended, found }
      }, 'long')
    },

    /**
     * Returns the staged documents, of a range or by ids, whose stored state differs from the one
     * that the job scanned. `tag` is null if the document does not exist.
     */
    async changed({ id, kind, database, collection }: Job, which: Range | readonly string[]) {
      const isSelected =
        'last' in which
          ? sql`staged.id > ${which.after} and staged.id <= ${which.last}`
          : sql`staged.id in (select value from json_each(${JSON.stringify(which)}))`
      const { rows } = await sql<{ id: string; tag: string | null; body: string | null }>`
        select staged.id, documents.tag, documents.body from job_documents as staged
        left join documents on documents.database = ${database}
          and documents.collection = ${collection} and documents.id = staged.id
        where staged.job = ${id} and ${isSelected}
        and ${kind === 'create' ? sql`documents.tag is not null` : sql`documents.tag is not staged.seen`}
        order by staged.id`.execute(db)
      return rows
    },

    /** Replaces staged documents of a job. */
    restage(job: Job, ids: readonly string[], staged: readonly StagedDocument[]): Promise<Job> {
      const found = job.found - ids.length + staged.length
      return transaction(async (trx) => {
        const next = await own(trx, job, { found })
        await sql`
          delete from job_documents where job = ${job.id}
          and id in (select value from json_each(${JSON.stringify(ids)}))`.execute(trx)
        await insert(trx, job, staged)
        return next
      })
    },

    /**
     * Commits a job whose documents are written afterwards.
     *
     * @throws Failure `database-not-found`; SchemaChanged
     */
    commit(job: Job, keep: boolean): Promise<Job> {
      return transaction(async (trx) => {
        const state = { state: 'applying', cursor: '', clean: keep ? 1 : 0 }
        const committed = await own(trx, job, state)
        await requireDatabase(trx, job.database)
        await requireSchema(trx, job)
        return committed
      })
    },

    /** Returns the creations of small arrays that requests of an earlier process waited for. */
    async attached(): Promise<Job[]> {
      const rows = await db
        .selectFrom('jobs')
        .selectAll()
        .where('state', '=', 'preparing')
        .where('kind', '=', 'create')
        .where('done', '<=', MAX_SYNC_BULK_DOCUMENTS)
        .execute()
      return rows.map(toJob)
    },

    /** Returns the jobs that are committed but not yet applied. */
    async applying(): Promise<Job[]> {
      const rows = await db.selectFrom('jobs').selectAll().where('state', '=', 'applying').execute()
      return rows.map(toJob)
    },

    /**
     * Returns the id up to which a job is applied; undefined if the job was discarded or its
     * database was dropped.
     */
    async cursorOf(trx: Transaction<Tables>, { id }: Job): Promise<string | undefined> {
      const row = await trx
        .selectFrom('jobs')
        .select('cursor')
        .where('id', '=', id)
        .where('state', '=', 'applying')
        .where((eb) =>
          eb.or([
            eb('database', '=', SYSTEM_DATABASE),
            eb('database', 'in', eb.selectFrom('databases').select('databases.id')),
          ]),
        )
        .executeTakeFirst()
      return row?.cursor ?? undefined
    },

    async moveCursor(trx: Transaction<Tables>, { id }: Job, cursor: string): Promise<void> {
      await trx.updateTable('jobs').set({ cursor }).where('id', '=', id).execute()
    },

    async endApplied(trx: Transaction<Tables>, { id }: Job): Promise<void> {
      const end = { state: 'done', cursor: null, updated_at: now() }
      await trx.updateTable('jobs').set(end).where('id', '=', id).execute()
    },

    /** Ends a job with a failure. */
    fail: (job: Job, { code, message, details }: Failure): Promise<Job> =>
      transaction((trx) =>
        own(trx, job, { state: 'failed', failure: JSON.stringify({ code, message, details }) }),
      ),

    /** Discards the oldest completed listings of a database, beyond {@link MAX_LISTINGS}. */
    async discardListings(database: string): Promise<void> {
      const oldest = db
        .selectFrom('jobs')
        .select('id')
        .where('database', '=', database)
        .where('kind', '=', 'list')
        .where('state', '=', 'done')
        .orderBy('created_at', 'desc')
        .limit(CLEANUP_ROWS)
        .offset(MAX_LISTINGS)
      const rows = await oldest.execute()
      if (rows.length > 0) await this.discard(rows.map(({ id }) => id))
    },

    /** Marks jobs in any state for deletion. */
    async discard(ids: readonly string[]): Promise<void> {
      await db
        .updateTable('jobs')
        .set({ state: 'discarded', clean: 0 })
        .where('id', 'in', ids)
        .execute()
    },

    /**
     * Returns the ids of obsolete jobs: expired ones, those of dropped databases, and unfinished
     * ones of a dead node.
     */
    async stale(): Promise<string[]> {
      const rows = await db
        .selectFrom('jobs')
        .select('id')
        .where('state', '!=', 'discarded')
        .where((eb) =>
          eb.or([
            eb.and([
              eb('state', 'in', ['done', 'failed']),
              eb('updated_at', '<=', now() - JOB_RETENTION),
            ]),
            eb.and([eb('state', 'in', ['preparing', 'attached']), eb('claimed_until', '<', now())]),
            eb.and([
              eb('database', '!=', '_system'),
              eb('database', 'not in', eb.selectFrom('databases').select('databases.id')),
            ]),
          ]),
        )
        .limit(CLEANUP_ROWS)
        .execute()
      return rows.map(({ id }) => id)
    },

    /** Deletes some rows of an ended job; returns false if there are none. */
    async tidy(): Promise<boolean> {
      const job = await db
        .selectFrom('jobs')
        .select(['id', 'state'])
        .where('state', 'in', ['done', 'failed', 'discarded'])
        .where('clean', '=', 0)
        .limit(1)
        .executeTakeFirst()
      if (job === undefined) return false
      const documents = await db
        .selectFrom('job_documents')
        .select(['id', sql<number>`octet_length(body)`.as('bytes')])
        .where('job', '=', job.id)
        .orderBy('id')
        .limit(CLEANUP_ROWS)
        .execute()
      const last = documents[limitBytes(documents, CLEANUP_BYTES) - 1]
      if (last !== undefined) {
        await db
          .deleteFrom('job_documents')
          .where('job', '=', job.id)
          .where('id', '<=', last.id)
          .execute()
        return true
      }
      if (job.state === 'discarded') {
        await db.deleteFrom('jobs').where('id', '=', job.id).execute()
      } else {
        await db
          .updateTable('jobs')
          .set({ clean: 1 })
          .where('id', '=', job.id)
          // Another node may have just discarded the job. Its row must still be deleted.
          .where('state', '=', job.state)
          .execute()
      }
      return true
    },
  }
}

/** Returns ids that sort by number. */
const partId = (number: number) => String(number).padStart(12, '0')

/** Stages documents; returns the number of those that were not staged before. */
async function insert(
  trx: Transaction<Tables>,
  { id }: Job,
  staged: readonly StagedDocument[],
): Promise<number> {
  let inserted = 0
  for (let at = 0; at < staged.length; at += INSERT_ROWS) {
    const { numInsertedOrUpdatedRows = 0n } = await trx
      .insertInto('job_documents')
      .values(staged.slice(at, at + INSERT_ROWS).map((each) => ({ job: id, ...each })))
      .onConflict((conflict) => conflict.doNothing())
      .executeTakeFirstOrThrow()
    inserted += Number(numInsertedOrUpdatedRows)
  }
  return inserted
}

/** Returns a duplicate id among the staged documents. */
async function firstDuplicate(
  trx: Transaction<Tables>,
  { id }: Job,
  staged: readonly StagedDocument[],
): Promise<string> {
  for (const each of staged) {
    const { tag } = await trx
      .selectFrom('job_documents')
      .select('tag')
      .where('job', '=', id)
      .where('id', '=', each.id)
      .executeTakeFirstOrThrow()
    if (tag !== each.tag) return each.id
  }
  throw new Error('ids are unique')
}
