import { randomBytes } from 'node:crypto'
import { sql, type Transaction } from 'kysely'
import { JOB_KEPT, type JobKind, LISTINGS_KEPT } from '../contract/job.ts'
import { Failure } from '../failure.ts'
import { requireDatabase } from '../storage/database-exists.ts'
import type { Store } from '../storage/open.ts'
import type { Tables } from '../storage/tables.ts'
import { type Job, type JobRequest, type JobState, type Taken, toJob, type Where } from './job.ts'

/** So long a node has a job to itself after each step, ms. */
export const LEASE = 15_000

/** How many rows one tidying step deletes. */
const SOME = 500

/** How many rows one statement inserts: some engines bound its parameters. */
const ROWS = 100

/** A step that a job has made. */
export interface Step {
  /** How many documents it went through. */
  readonly passed: number
  readonly cursor: string | null
  /** How many of them are created, changed, deleted or listed. */
  readonly found: number
  /** What the job keeps of them until its end; nothing where it lists. */
  readonly taken: readonly Taken[]
}

/** The jobs of a store, as one node sees and claims them. */
export type JobRepository = ReturnType<typeof createJobRepository>

/** Thrown where a job is no longer this node's: dropped, discarded, or taken over by another. */
export class Lost extends Error {}

/**
 * Makes a {@link JobRepository}; `now` tells ms since 1970. All that is asked of the two tables stands
 * here, for a state is safe only as long as every change of it agrees with all others.
 */
export function createJobRepository({ db, engine, transaction }: Store, now: () => number) {
  const me = randomBytes(8).toString('hex')
  const lease = () => ({ claimed_by: me, claimed_until: now() + LEASE })

  /** Changes a job that is this node's, in a state that goes on; else throws {@link Lost}. */
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
    if (row === undefined) throw new Lost()
    return toJob(row)
  }

  return {
    /** Stores a job; one that runs may be claimed by any node, else this one has it. */
    async create(
      { database, collection }: Where,
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
     * Stores some of the documents of a job that is being prepared.
     *
     * @throws Failure `conflict` for an id that was sent twice.
     */
    stage(job: Job, taken: readonly Taken[]): Promise<Job> {
      const [done, found] = [job.done + taken.length, job.found + taken.length]
      return transaction(async (trx) => {
        const next = await own(trx, job, { done, found })
        if ((await insert(trx, job, taken)) === taken.length) return next
        const twice = await firstTwice(trx, job, taken)
        throw new Failure('conflict', `The id ${JSON.stringify(twice.slice(0, 64))} stands twice.`)
      })
    },

    /** Ends the preparation: from now on the job runs, to be claimed by any node. */
    begin: (job: Job): Promise<Job> =>
      transaction((trx) => own(trx, job, { state: 'running', total: job.done, claimed_until: 0 })),

    /** Keeps a job that is being prepared while nothing of it is stored. */
    async renew({ id }: Job): Promise<void> {
      await db
        .updateTable('jobs')
        .set(lease())
        .where('id', '=', id)
        .where('claimed_by', '=', me)
        .where('state', '=', 'preparing')
        .execute()
    },

    /** Returns the bodies of some of the documents that a job has taken, in the order of the ids. */
    async bodies({ id }: Job, ids: readonly string[]): Promise<string[]> {
      const list = JSON.stringify(ids)
      // Subqueries, because PostgreSQL would plan a join by statistics that a new table does not have.
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

    /** How many jobs of a database are under way. */
    async underWay(database: string): Promise<number> {
      const { count } = await db
        .selectFrom('jobs')
        .select((eb) => eb.fn.countAll().as('count'))
        .where('state', 'in', ['preparing', 'attached', 'running'])
        .where('database', '=', database)
        .executeTakeFirstOrThrow()
      return Number(count)
    },

    /** Takes a job that runs and that no living node has. */
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

    /** Gives jobs back, for the next start or another node to go on at once. */
    async release(): Promise<void> {
      await db
        .updateTable('jobs')
        .set({ claimed_until: 0 })
        .where('claimed_by', '=', me)
        .where('claimed_until', '>', 0)
        .execute()
    },

    /** Where this node has the store to itself, what the last one had claimed is free. */
    async releaseOfTheDead(): Promise<void> {
      if (engine !== 'sqlite') return
      await db
        .updateTable('jobs')
        .set({ claimed_until: 0 })
        .where('claimed_until', '>', 0)
        .where('claimed_by', '!=', me)
        .execute()
    },

    /** Stores a step and how far the job is, both or neither. */
    advance(job: Job, { passed, cursor, taken, ...step }: Step): Promise<Job> {
      const [done, found] = [job.done + passed, job.found + step.found]
      return transaction(async (trx) => {
        const next = await own(trx, job, { cursor, done, found })
        await insert(trx, job, taken)
        return next
      })
    },

    /**
     * Ends a job well, with its last change in the same transaction.
     *
     * @param keep whether what it has taken is kept until it is discarded.
     * @throws Failure `database-not-found` where the database was dropped in the meantime.
     */
    finish(
      job: Job,
      apply: (trx: Transaction<Tables>) => Promise<number>,
      keep = false,
    ): Promise<Job> {
      const clean = keep ? 1 : 0
      // Where a listing has ended, so do its results.
      const end = { state: 'done', clean, cursor: job.kind === 'list' ? job.cursor : null }
      return transaction(async (trx) => {
        const ended = await own(trx, job, end)
        const found = await apply(trx)
        await trx.updateTable('jobs').set({ found }).where('id', '=', job.id).execute()
        // Last, because PostgreSQL lets another node drop the database while this change is made.
        await requireDatabase(trx, job.database)
        return { ...ended, found }
      }, 'long')
    },

    /** Ends a job with what went wrong. */
    fail: (job: Job, { code, message, details }: Failure): Promise<Job> =>
      transaction((trx) =>
        own(trx, job, { state: 'failed', failure: JSON.stringify({ code, message, details }) }),
      ),

    /** Has the oldest ended listings of a database deleted, beyond {@link LISTINGS_KEPT}. */
    async discardListings(database: string): Promise<void> {
      const oldest = db
        .selectFrom('jobs')
        .select('id')
        .where('database', '=', database)
        .where('kind', '=', 'list')
        .where('state', '=', 'done')
        .orderBy('created_at', 'desc')
        .limit(SOME)
        .offset(LISTINGS_KEPT)
      const rows = await oldest.execute()
      if (rows.length > 0) await this.discard(rows.map(({ id }) => id))
    },

    /** Has a job deleted, from whatever state. */
    async discard(ids: readonly string[]): Promise<void> {
      await db
        .updateTable('jobs')
        .set({ state: 'discarded', clean: 0 })
        .where('id', 'in', ids)
        .execute()
    },

    /** Jobs that nobody needs: ended long ago, without a database, left by a node that died. */
    async stale(): Promise<string[]> {
      const rows = await db
        .selectFrom('jobs')
        .select('id')
        .where('state', '!=', 'discarded')
        .where((eb) =>
          eb.or([
            eb.and([
              eb('state', 'in', ['done', 'failed']),
              eb('updated_at', '<=', now() - JOB_KEPT),
            ]),
            eb.and([eb('state', 'in', ['preparing', 'attached']), eb('claimed_until', '<', now())]),
            eb.and([
              eb('database', '!=', '_system'),
              eb('database', 'not in', eb.selectFrom('databases').select('databases.id')),
            ]),
          ]),
        )
        .limit(SOME)
        .execute()
      return rows.map(({ id }) => id)
    },

    /** Deletes some of what an ended job has left; false where there is nothing. */
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
        .select('id')
        .where('job', '=', job.id)
        .orderBy('id')
        .limit(SOME)
        .execute()
      const last = documents.at(-1)
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
          // Another node may have just discarded it: then its row is still to be deleted.
          .where('state', '=', job.state)
          .execute()
      }
      return true
    },
  }
}

/** Stores what a job has taken; returns how many of them it had not taken before. */
async function insert(
  trx: Transaction<Tables>,
  { id }: Job,
  taken: readonly Taken[],
): Promise<number> {
  let inserted = 0
  for (let at = 0; at < taken.length; at += ROWS) {
    const { numInsertedOrUpdatedRows = 0n } = await trx
      .insertInto('job_documents')
      .values(taken.slice(at, at + ROWS).map((each) => ({ job: id, ...each })))
      .onConflict((conflict) => conflict.doNothing())
      .executeTakeFirstOrThrow()
    inserted += Number(numInsertedOrUpdatedRows)
  }
  return inserted
}

/** Returns an id that stands twice in what a job has taken, in part before. */
async function firstTwice(
  trx: Transaction<Tables>,
  { id }: Job,
  taken: readonly Taken[],
): Promise<string> {
  for (const each of taken) {
    const { tag } = await trx
      .selectFrom('job_documents')
      .select('tag')
      .where('job', '=', id)
      .where('id', '=', each.id)
      .executeTakeFirstOrThrow()
    if (tag !== each.tag) return each.id
  }
  throw new Error('every id stands once')
}
