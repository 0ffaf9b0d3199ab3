import { createTimeSlice } from '../concurrency/turns.ts'
import { compareCodePoints } from '../contract/query/compare-code-points.ts'
import type { StoredDocument } from '../documents/repository/stored-documents.ts'
import type { StateChange } from '../documents/repository/writes/change-documents.ts'
import { Failure } from '../failure.ts'
import type { CollectionRef } from '../storage/document-ref.ts'
import type { DocumentRules, JobRequest } from './job.ts'

/** Maximum number of ids that one step reads. */
const MAX_DOCUMENTS = 1_000

/** Maximum size of the documents and patches of a step, bytes, unless it patches only one. */
const MAX_BYTES = 1024 * 1024

/** What a step reads: the next documents after an id. */
export interface ScanTarget extends CollectionRef {
  readonly kind: 'patch' | 'delete' | 'list'
  readonly request: JobRequest
  /** The id after which the step begins; null for the first step. */
  readonly cursor: string | null
}

/** The documents that a step has read, and the changes of those that match. */
export interface ScannedDocuments {
  readonly scanned: number
  /** The id of the last of them. */
  readonly cursor: string
  /** Number of documents that match. */
  readonly found: number
  /** In the order of their ids; empty for a listing. */
  readonly changes: readonly StateChange[]
  /** The documents that cannot be changed as requested. */
  readonly rejected: readonly { readonly id: string; readonly failure: Failure }[]
  /** The tag of the schema that has validated the changes; undefined if none was needed. */
  readonly schema: string | null | undefined
}

/**
 * Reads the next documents and computes their changes. Returns undefined after the last document.
 *
 * @param ids the documents that an index has found, in order; undefined to read the collection.
 */
export type Scan = (
  target: ScanTarget,
  ids: readonly string[] | undefined,
) => Promise<ScannedDocuments | undefined>

/** @param nextTurn awaited after each time slice. */
export function createScan(rules: Pick<DocumentRules, 'candidates' | 'matcher' | 'merger'>): Scan {
  async function scanStored(target: ScanTarget, ids?: readonly string[]) {
    const { cursor, request } = target
    const { filter, after = '' } = request
    // The cursor may be before `after`: an index finds documents before it, too.
    const begin = cursor !== null && compareCodePoints(cursor, after) > 0 ? cursor : after
    const { documents, scanned, last } = await rules.candidates(target, filter, begin, ids)
    return last === undefined ? undefined : scanRows(target, documents, scanned, last)
  }

  /** @param last the cursor if all rows are scanned. */
  async function scanRows(
    target: ScanTarget,
    rows: readonly StoredDocument[],
    scanned: number,
    last: string,
  ): Promise<ScannedDocuments> {
    const { filter, patch = '' } = target.request
    const patchBytes = Buffer.byteLength(patch)
    const matches = rules.matcher(filter)
    let merger: Awaited<ReturnType<typeof rules.merger>> | undefined
    const changes: StateChange[] = []
    const rejected: { id: string; failure: Failure }[] = []
    let bytes = 0
    let found = 0
    const timeSlice = createTimeSlice()
    for (const [at, { id, tag, body }] of rows.entries()) {
      await timeSlice()
      if (!(await matches(body))) continue
      if (target.kind === 'delete') changes.push({ id, tag, body, next: undefined })
      if (target.kind === 'patch') {
        bytes += Buffer.byteLength(body) + patchBytes
        const before = rows[at - 1]
        if (found > 0 && bytes > MAX_BYTES && before !== undefined) {
          return {
            scanned: at,
            cursor: before.id,
            found,
            changes,
            rejected,
            schema: merger?.schema,
          }
        }
        // Not before a document matches, because a large patch takes long to parse.
        merger ??= await rules.merger(target, patch)
        try {
          changes.push({ id, tag, body, next: await merger.merge(id, body) })
        } catch (error) {
          if (!(error instanceof Failure) || error.kind.status >= 500) throw error
          rejected.push({ id, failure: error })
        }
      }
      found++
    }
    return { scanned, cursor: last, found, changes, rejected, schema: merger?.schema }
  }

  return async (target, ids) => {
    if (ids === undefined) return scanStored(target)
    const { cursor } = target
    const begin = cursor === null ? 0 : indexAfter(ids, cursor)
    const some = ids.slice(begin, begin + MAX_DOCUMENTS)
    const last = some.at(-1)
    if (last === undefined) return undefined
    // Documents that were deleted since are missing.
    return (await scanStored(target, some)) ?? { ...NOTHING, scanned: 0, cursor: last, found: 0 }
  }
}

const NOTHING = { changes: [], rejected: [], schema: undefined } as const

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

/** Returns the names of the fields that a patch changes, for {@link StateChange}s. */
export const fieldsOf = (patch: string | undefined): ReadonlySet<string> | undefined =>
  patch === undefined ? undefined : new Set(Object.keys(JSON.parse(patch) as object))
