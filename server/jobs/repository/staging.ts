import { type SqlBool, sql, type Transaction } from 'kysely'
import { jsonPointer } from '../../contract/json/json-pointer.ts'
import type { StoredPart } from '../../documents/import/stored-part.ts'
import { Failure } from '../../failure.ts'
import type { Store } from '../../storage/store.ts'
import type { Tables } from '../../storage/tables.ts'
import type { Job, StagedDocument } from '../job.ts'
import type { Range } from '../range.ts'
import type { Lease } from './lease.ts'

/** Number of rows per insert, because engines limit the parameters of a statement. */
const INSERT_ROWS = 100

/** A staged document whose stored state has changed since the job scanned it. */
export interface ChangedDocument {
  readonly id: string
  /** Null if the document does not exist. */
  readonly tag: string | null
  readonly bytes: number
}

/** Returns the queries on the documents that jobs have staged. */
export function createStaging({ db, engine, transaction }: Store, { updateHeld }: Lease) {
  return {
    /**
     * Stages the next documents of an array.
     *
     * @throws Failure `conflict` for a duplicate id.
     */
    stage(job: Job, staged: readonly StagedDocument[]): Promise<Job> {
      const [done, found] = [job.done + staged.length, job.found + staged.length]
      return transaction(async (trx) => {
        const next = await updateHeld(trx, job, { done, found })
        if ((await insert(trx, job, staged)) === staged.length) return next
        const { id, at } = await firstDuplicate(trx, job, staged)
        throw new Failure('conflict', `The id ${JSON.stringify(id.slice(0, 64))} occurs twice.`, {
          field: jsonPointer([job.done + at, 'id']),
        })
      })
    },

    /** Stages parts of an import, after `before` others. */
    stageParts(job: Job, parts: readonly StoredPart[], before: number): Promise<Job> {
      const records = parts.reduce((sum, part) => sum + part.records, job.total ?? 0)
      return transaction(async (trx) => {
        const next = await updateHeld(trx, job, { total: records })
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

    /** Returns the staged documents of a range, or on SQLite by ids. */
    staged: ({ id }: Job, which: Range | readonly string[]) =>
      db
        .selectFrom('job_documents as staged')
        .select(['id', 'body'])
        .where('job', '=', id)
        .where(isSelected(which))
        .orderBy('id')
        .execute(),

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

    /** Returns the first staged id, of a range or of ids, that exists. SQLite only. */
    async firstExisting(
      { id, database, collection }: Job,
      which: Range | readonly string[],
    ): Promise<string | undefined> {
      const { rows } = await sql<{ id: string }>`
        select staged.id from job_documents as staged
        where staged.job = ${id} and ${isSelected(which)} and exists (
          select 1 from documents where documents.database = ${database}
          and documents.collection = ${collection} and documents.id = staged.id)
        order by staged.id limit 1`.execute(db)
      return rows[0]?.id
    },

    /**
     * Returns the staged documents, of a range or by ids, whose stored state differs from the one
     * that the job scanned. `tag` is null if the document does not exist. `bytes` is the size of the
     * staged body, or of the stored body and the patch if that is larger. SQLite only.
     */
    async changed(
      { id, database, collection, request: { patch = '' } }: Job,
      which: Range | readonly string[],
    ): Promise<ChangedDocument[]> {
      const patchBytes = Buffer.byteLength(patch)
      const { rows } = await sql<ChangedDocument>`
        select staged.id, documents.tag, max(
          octet_length(staged.body), coalesce(octet_length(documents.body) + ${patchBytes}, 0)
        ) as bytes
        from job_documents as staged
        left join documents on documents.database = ${database}
          and documents.collection = ${collection} and documents.id = staged.id
        where staged.job = ${id} and ${isSelected(which)} and documents.tag is not staged.seen
        order by staged.id`.execute(db)
      return rows
    },

    /** Returns stored documents. Omits those whose tag is no longer this one. SQLite only. */
    async stored(
      { database, collection }: Job,
      documents: readonly Pick<ChangedDocument, 'id' | 'tag'>[],
    ) {
      const list = JSON.stringify(documents.map(({ id, tag }) => ({ id, tag })))
      const { rows } = await sql<{ id: string; tag: string; body: string }>`
        select documents.id, documents.tag, documents.body
        from json_each(${list}) as each cross join documents
        where documents.database = ${database} and documents.collection = ${collection}
        and documents.id = each.value ->> 'id' and documents.tag = each.value ->> 'tag'
        order by documents.id`.execute(db)
      return rows
    },

    /** Replaces staged documents of a job. */
    restage(job: Job, ids: readonly string[], staged: readonly StagedDocument[]): Promise<Job> {
      const found = job.found - ids.length + staged.length
      return transaction(async (trx) => {
        const next = await updateHeld(trx, job, { found })
        await sql`
          delete from job_documents where job = ${job.id}
          and id in (select value from json_each(${JSON.stringify(ids)}))`.execute(trx)
        await insert(trx, job, staged)
        return next
      })
    },
  }
}

/** Returns a condition on `job_documents as staged`. */
const isSelected = (which: Range | readonly string[]) =>
  'last' in which
    ? sql<SqlBool>`staged.id > ${which.after} and staged.id <= ${which.last}`
    : sql<SqlBool>`staged.id in (select value from json_each(${JSON.stringify(which)}))`

/** Returns ids that sort by number. */
const partId = (number: number) => String(number).padStart(12, '0')

/** Stages documents; returns the number of those that were not staged before. */
export async function insert(
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

/** Returns the first staged document whose id was staged before, and its index. */
async function firstDuplicate(
  trx: Transaction<Tables>,
  { id }: Job,
  staged: readonly StagedDocument[],
): Promise<{ readonly id: string; readonly at: number }> {
  for (const [at, each] of staged.entries()) {
    const { tag } = await trx
      .selectFrom('job_documents')
      .select('tag')
      .where('job', '=', id)
      .where('id', '=', each.id)
      .executeTakeFirstOrThrow()
    if (tag !== each.tag) return { id: each.id, at }
  }
  throw new Error('ids are unique')
}
