import { sql } from 'kysely'
import { createTimeSlice } from '../concurrency/time-slice.ts'
import type { NextTurn } from '../concurrency/turns.ts'
import { compareCodePoints } from '../contract/query/compare-code-points.ts'
import type { Store } from '../storage/store.ts'
import type { DocumentRules, Job, Merge, StagedDocument } from './job.ts'
import type { Step } from './repository/progress.ts'

/**
 * Maximum number of documents that one step scans, and of their bytes; a few milliseconds of work.
 * The documents that it stages have at most as many bytes, unless it stages only one.
 */
const MAX_DOCUMENTS = 250
const MAX_BYTES = 256 * 1024

/**
 * Computes the next step of a job: scans some documents and determines their new states. Writes
 * nothing. Returns undefined after the last document.
 *
 * @param nextTurn awaited after each time slice.
 * @param ids the documents that an index has found, in order; undefined to scan the collection.
 * @throws Failure `invalid`, `too-large` if a document cannot be changed as requested.
 */
export async function scanNext(
  store: Store,
  rules: DocumentRules,
  job: Job,
  nextTurn: NextTurn,
  ids?: readonly string[],
): Promise<Step | undefined> {
  // The documents of a creation were staged as they arrived.
  if (job.kind === 'create') return undefined
  if (ids === undefined) return scanStored(store, rules, job, nextTurn)
  const { cursor } = job
  const begin = cursor === null ? 0 : indexAfter(ids, cursor)
  const some = ids.slice(begin, begin + MAX_DOCUMENTS)
  const last = some.at(-1)
  if (last === undefined) return undefined
  const nothing = { scanned: 0, cursor: last, found: 0, staged: [] }
  // Documents that were deleted since are missing.
  return (await scanStored(store, rules, job, nextTurn, some)) ?? nothing
}

/**
 * Returns the index of the first id after another one. That may be missing: a restarted job selects
 * the ids again, and the document may have been deleted since.
 */
function indexAfter(ids: readonly string[], id: string): number {
  let [begin, end] = [0, ids.length]
  while (begin < end) {
    const middle = (begin + end) >> 1
    if (compareCodePoints(ids[middle] as string, id) > 0) end = middle
    else begin = middle + 1
  }
  return begin
}

async function scanStored(
  { db }: Store,
  rules: DocumentRules,
  job: Job,
  nextTurn: NextTurn,
  ids?: readonly string[],
) {
  const { filter, after = '' } = job.request
  const here = db
    .selectFrom('documents')
    .where('database', '=', job.database)
    .where('collection', '=', job.collection)
    .where('id', '>', job.cursor ?? after)
    .$call((query) =>
      // The cursor may be before `after` here: an index finds documents before it, too.
      ids === undefined ? query : query.where('id', 'in', ids).where('id', '>', after),
    )
    .orderBy('id')
  // Sizes first: this many documents of the maximum size would take too much memory.
  const sizes = await here
    .select(['id', sql<number>`octet_length(body)`.as('bytes')])
    .limit(MAX_DOCUMENTS)
    .execute()
  let bytes = 0
  const some = sizes.filter(({ bytes: more }, at) => {
    bytes += more
    return at === 0 || bytes <= MAX_BYTES
  })
  const last = some.at(-1)
  const end = sizes.at(-1)
  if (last === undefined || end === undefined) return undefined
  if (job.kind === 'list' && filter.length === 0) {
    return {
      scanned: sizes.length,
      cursor: end.id,
      found: sizes.length,
      staged: [],
    }
  }
  const rows = await here.select(['id', 'tag', 'body']).where('id', '<=', last.id).execute()
  return scanRows(rules, job, nextTurn, rows, last.id)
}

/** @param last the cursor if all rows are scanned. */
async function scanRows(
  rules: DocumentRules,
  job: Job,
  nextTurn: NextTurn,
  rows: readonly { readonly id: string; readonly tag: string; readonly body: string }[],
  last: string,
): Promise<Step> {
  const { filter, patch = '' } = job.request
  const patchBytes = Buffer.byteLength(patch)
  const matches = rules.matcher(filter)
  let merge: Merge | undefined
  const staged: StagedDocument[] = []
  let bytes = 0
  let found = 0
  const timeSlice = createTimeSlice(nextTurn)
  for (const [at, { id, tag, body }] of rows.entries()) {
    await timeSlice()
    if (!(await matches(body))) continue
    if (job.kind === 'patch') {
      bytes += Buffer.byteLength(body) + patchBytes
      const before = rows[at - 1]
      if (staged.length > 0 && bytes > MAX_BYTES && before !== undefined) {
        return { scanned: at, cursor: before.id, found, staged }
      }
      // Not before a document matches, because a large patch takes long to parse.
      merge ??= await rules.merger(job, patch)
      staged.push({ id, seen: tag, tag: rules.createTag(), body: await merge(id, body) })
    }
    if (job.kind === 'delete') staged.push({ id, seen: tag, tag: '', body: '' })
    // The results of a listing are read from the collection, up to the job's cursor.
    found++
  }
  return { scanned: rows.length, cursor: last, found, staged }
}
