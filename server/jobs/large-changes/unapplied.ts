import { setImmediate as nextTurn } from 'node:timers/promises'
import { type RawBuilder, type SqlBool, sql, type Transaction } from 'kysely'
import { createCoalescedSync } from '../../concurrency/coalesced-sync.ts'
import { PAGE } from '../../contract/document.ts'
import { parseJson } from '../../contract/json/parse-json.ts'
import type { ChangedDocument, UnappliedChange } from '../../storage/changes/collection-writes.ts'
import { portionsOf } from '../../storage/changes/portions.ts'
import { type IdRange, sqlOfRange } from '../../storage/sql/id-range.ts'
import { limitRows } from '../../storage/sql/limit-rows.ts'
import type { Store } from '../../storage/store.ts'
import type { Tables } from '../../storage/tables.ts'
import type { DocumentRules, Job } from '../job.ts'
import { addStaged, PORTION, removeStored } from '../reindex.ts'

/**
 * Number of stored documents that one query combines with a change: the largest page, and the
 * document after it.
 */
const WINDOW_ROWS = PAGE.max + 1

type IndexRules = Pick<DocumentRules, 'openIndexes'>

/** Value of `seen` in a staged row after the change is applied to its document. */
const APPLIED = '*'

/**
 * Returns the change of a committed job that is not yet applied to all documents. Only SQLite has
 * such changes; on PostgreSQL the transaction that commits a job also applies it.
 */
export function createUnapplied(
  { db, transaction }: Store,
  rules: IndexRules,
  job: Job,
): UnappliedChange {
  const isPending = pendingOf(job)
  const isHere = sql`documents.database = ${job.database} and documents.collection = ${job.collection}`

  /**
   * Combines the first stored documents of a range with the change, and omits deleted documents.
   * `end` is the last id of this part of the range; undefined if it is the whole range.
   */
  async function firstPart<R extends { readonly id: string }>(
    columns: RawBuilder<unknown>,
    range: IdRange,
    limit: number,
  ): Promise<{ rows: R[]; end: string | undefined }> {
    const { isWithin, order } = sqlOfRange(range)
    const { rows: window } = await sql<{ id: string }>`
      select id from documents where ${isHere} and ${isWithin}
      ${order} limit 1 offset ${WINDOW_ROWS - 1}`.execute(db)
    const end = window[0]?.id
    const { isWithin: isInWindow } = sqlOfRange({ ...range, last: end ?? range.last })
    const { rows } = await sql<R>`
      select id, ${columns} from documents where ${isHere} and ${isInWindow}
      and not exists (
        select 1 from job_documents as staged where ${isPending} and staged.id = documents.id)
      union all
      select id, ${columns} from job_documents as staged
      where ${isPending} and ${isInWindow} and staged.tag <> ''
      ${order} limit ${limitRows(limit)}`.execute(db)
    return { rows, end }
  }

  const list: UnappliedChange['list'] = async (range, limit) => {
    const found: ChangedDocument[] = []
    for (let after = range.after; ; ) {
      const rest = { ...range, after }
      const part = await firstPart<ChangedDocument>(sql`tag, body`, rest, limit - found.length)
      found.push(...part.rows)
      if (found.length === limit || part.end === undefined) return found
      after = part.end
      // Lets other requests run.
      await nextTurn()
    }
  }

  let isEmpty = false
  // A check may read the whole collection, so concurrent requests share it.
  const emptiness = createCoalescedSync(async () => {
    isEmpty = (await list({}, 1)).length === 0
  })

  return {
    creates: job.kind === 'create',
    async read(id) {
      const { rows } = await sql<ChangedDocument>`
        select staged.id, staged.tag, staged.body from job_documents as staged
        where ${isPending} and staged.id = ${id}`.execute(db)
      const [found] = rows
      return found?.tag === '' ? 'deleted' : found
    },
    list,
    async isEmpty() {
      await emptiness.sync()
      return isEmpty
    },
    sizes: (range, limit) => firstPart(sql`octet_length(body) as bytes`, range, limit),
    async apply(ids) {
      const { rows: sizes } = await sql<{ id: string; bytes: number }>`
        select staged.id, max(octet_length(staged.body), coalesce((
          select octet_length(documents.body) from documents
          where ${isHere} and documents.id = staged.id), 0)) as bytes
        from job_documents as staged where ${isPending} and ${isAmong(ids)}`.execute(db)
      for (const { rows } of portionsOf(sizes, PORTION)) {
        const isSelected = sql<SqlBool>`${isPending} and ${isAmong(rows.map(({ id }) => id))}`
        await transaction(async (trx) => {
          await write(trx, rules, job, isSelected)
          await sql`
            update job_documents as staged set seen = ${APPLIED} where ${isSelected}`.execute(trx)
        })
      }
    },
  }
}

const isAmong = (ids: readonly string[]) =>
  sql<SqlBool>`staged.id in (select value from json_each(${JSON.stringify(ids)}))`

/** Returns the condition that a staged document is not yet written. */
const pendingOf = ({ id }: Job) =>
  sql<SqlBool>`staged.job = ${id} and staged.seen <> ${APPLIED}
    and staged.id > (select cursor from jobs where id = ${id} and state = 'applying')`

/** Writes the documents of a range that are not yet written. */
export const writeRange = (
  trx: Transaction<Tables>,
  rules: IndexRules,
  job: Job,
  { after, last }: { readonly after: string; readonly last: string },
): Promise<void> =>
  write(
    trx,
    rules,
    job,
    sql<SqlBool>`${pendingOf(job)} and staged.id > ${after} and staged.id <= ${last}`,
  )

/** @param isSelected a condition on `job_documents as staged`. */
async function write(
  trx: Transaction<Tables>,
  rules: IndexRules,
  job: Job,
  isSelected: RawBuilder<SqlBool>,
): Promise<void> {
  const { kind, id, database, collection, request } = job
  const isStaged = sql<SqlBool>`
    database = ${database} and collection = ${collection}
    and id in (select staged.id from job_documents as staged where ${isSelected})`
  const changed = request.patch === undefined ? undefined : namesOf(request.patch)
  const indexes = await rules.openIndexes(trx, 'sqlite', job, changed)
  if (indexes !== undefined) {
    const reindexing = { trx, job, pause: async () => {} }
    if (kind !== 'create') await removeStored(reindexing, indexes, isStaged)
    // The change is committed, so no document can be rejected.
    if (kind !== 'delete') await addStaged(reindexing, indexes.addCommitted, isSelected)
  }
  if (kind === 'delete') {
    await sql`delete from documents where ${isStaged}`.execute(trx)
  } else if (kind === 'patch') {
    await sql`
      update documents set (tag, body) = (
        select staged.tag, staged.body from job_documents as staged
        where staged.job = ${id} and staged.id = documents.id)
      where ${isStaged}`.execute(trx)
  } else {
    await sql`
      insert into documents (database, collection, id, tag, body)
      select ${database}, ${collection}, staged.id, staged.tag, staged.body
      from job_documents as staged where ${isSelected} order by staged.id`.execute(trx)
  }
}

/** Length of a patch, in characters, up to which its fields are listed for each transaction. */
const LISTED_LENGTH = 64 * 1024

/**
 * Returns the names of the fields that a merge patch changes (RFC 7396 §2); undefined if it is long.
 */
const namesOf = (patch: string): ReadonlySet<string> | undefined =>
  patch.length > LISTED_LENGTH ? undefined : new Set(Object.keys(parseJson(patch) as object))
