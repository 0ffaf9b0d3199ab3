import { ApiFailure, isSignedOut, NoResponse, readJson } from '../../app/api.ts'
import {
  collectionClient,
  documentClient,
  JSON_TYPE,
  jobIdOf,
  RESPOND_ASYNC,
  readStoredDocument,
  type StoredDocument,
  toQuery,
} from '../document-client.ts'
import { readDocument } from '../document-requests.ts'
import type { Condition } from '../model/conditions.ts'
import { ConflictError, hasStatus } from '../mutations/conflict-error.ts'
import { deleteDocument } from '../mutations/delete-document.ts'
import { readCurrent } from '../mutations/save-document.ts'
import type { CollectionRef } from '../use-documents-location.ts'

/** Number of requests at a time. */
const CONCURRENCY = 6

/** A changed document: its version before, and after it unless it was deleted. */
export interface DocumentChange {
  readonly before: StoredDocument
  readonly after: StoredDocument | undefined
}

/** A document whose change is not confirmed. */
export interface DocumentFailure {
  readonly id: string
  readonly reason: string
  /** Whether the change may have been made, because no response arrived. */
  readonly isUnknown: boolean
}

/** The outcome of a change of several documents. */
export interface SelectionOutcome {
  readonly verb: 'changed' | 'deleted' | 'restored'
  readonly changes: readonly DocumentChange[]
  /** Documents whose change may have been made come first. */
  readonly failures: readonly DocumentFailure[]
  /** Number of documents that someone else deleted before. */
  readonly gone: number
}

/** Calls a function for each item, a few at a time, and resolves with the results in order. */
async function mapParallel<T, R>(items: readonly T[], run: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = []
  let next = 0
  const work = async () => {
    while (next < items.length) {
      const at = next++
      results[at] = await run(items[at] as T)
    }
  }
  await Promise.all(Array.from({ length: CONCURRENCY }, work))
  return results
}

/** Fetches the current versions of documents. Those that someone else deleted are omitted. */
export async function readSelected(
  collectionRef: CollectionRef,
  ids: readonly string[],
  signal: AbortSignal,
): Promise<readonly StoredDocument[]> {
  const found = await mapParallel(ids, (id) =>
    readDocument(collectionRef, id, signal).catch((error: unknown) => {
      if (error instanceof ApiFailure && error.status === 404) return undefined
      throw error
    }),
  )
  return found.filter((document) => document !== undefined)
}

/** A document after its change; undefined if it was deleted. */
type Changed = StoredDocument | undefined | 'gone'

/** Changes documents, a few at a time, until the server is unreachable or the session ends. */
async function changeEach(
  verb: SelectionOutcome['verb'],
  documents: readonly StoredDocument[],
  change: (document: StoredDocument) => Promise<Changed>,
): Promise<SelectionOutcome> {
  const changes: DocumentChange[] = []
  const failures: DocumentFailure[] = []
  let gone = 0
  let isOver = false
  await mapParallel(documents, async (before) => {
    if (isOver) {
      failures.push({ id: before.id, reason: 'Not attempted.', isUnknown: false })
      return
    }
    try {
      const after = await change(before)
      if (after === 'gone') gone++
      else changes.push({ before, after })
    } catch (error) {
      const isUnknown = error instanceof NoResponse
      isOver ||= isUnknown || isSignedOut(error)
      failures.push({ id: before.id, reason: reasonOf(error as Error), isUnknown })
    }
  })
  // A report shows only the first few.
  failures.sort((one, other) => Number(other.isUnknown) - Number(one.isUnknown))
  return { verb, changes, failures, gone }
}

function reasonOf(error: Error): string {
  if (error instanceof NoResponse) return `${error.message} The change may have been made.`
  return error instanceof ConflictError || hasStatus(error, 412)
    ? 'Someone changed it.'
    : error.message
}

/**
 * Resolves with the document after a change of one version, or with `gone`. The server rejects both
 * a change of another version and a change of a deleted document with 412.
 */
async function changeVersion(
  collectionRef: CollectionRef,
  id: string,
  change: Promise<StoredDocument>,
): Promise<Changed> {
  try {
    return await change
  } catch (error) {
    if (!hasStatus(error, 412)) throw error
    // If the read fails too, report the rejection: the document was not changed.
    const current = await readCurrent(collectionRef, id).catch(() => undefined)
    if (current === null) return 'gone'
    throw error
  }
}

/** Deletes these versions of documents. A document that was changed since then is kept. */
export const deleteEach = (collectionRef: CollectionRef, documents: readonly StoredDocument[]) =>
  changeEach('deleted', documents, async (document) => {
    const isDeleted = await deleteDocument(collectionRef, document)
    return isDeleted ? undefined : 'gone'
  })

/**
 * Deletes this version of a document.
 *
 * @throws ConflictError if it was changed since then.
 */
export async function deleteOne(
  collectionRef: CollectionRef,
  document: StoredDocument,
): Promise<SelectionOutcome> {
  const isDeleted = await deleteDocument(collectionRef, document)
  const changes = isDeleted ? [{ before: document, after: undefined }] : []
  return { verb: 'deleted', changes, failures: [], gone: isDeleted ? 0 : 1 }
}

/** Merges a patch into these versions of documents. */
export const patchEach = (
  collectionRef: CollectionRef,
  documents: readonly StoredDocument[],
  patch: string,
) =>
  changeEach('changed', documents, ({ id, etag }) => {
    const { param, document } = documentClient(collectionRef, id)
    const headers = { 'Content-Type': 'application/merge-patch+json', 'If-Match': etag }
    const request = document.$patch({ param }, { headers, init: { body: patch } })
    return changeVersion(collectionRef, id, readStoredDocument(request))
  })

/**
 * Restores the documents before a change. A document that someone else changed since then, or
 * created again, is kept; one that someone else deleted stays deleted.
 */
export async function undoChanges(
  collectionRef: CollectionRef,
  changes: readonly DocumentChange[],
): Promise<SelectionOutcome> {
  const afterOf = new Map(changes.map(({ before, after }) => [before.id, after]))
  const documents = changes.map(({ before }) => before)
  return changeEach('restored', documents, async ({ id, json }) => {
    const { param, document } = documentClient(collectionRef, id)
    const after = afterOf.get(id)
    const put = (condition: Record<string, string>) => {
      const headers = { ...JSON_TYPE, ...condition }
      return readStoredDocument(document.$put({ param }, { headers, init: { body: json } }))
    }
    if (after !== undefined) {
      return changeVersion(collectionRef, id, put({ 'If-Match': after.etag }))
    }
    return put({ 'If-None-Match': '*' }).catch((error: unknown) => {
      throw hasStatus(error, 412) ? new Error('Someone created it again.') : error
    })
  })
}

/** Starts a job that deletes all documents that match. Resolves with its id. */
export async function deleteMatching(
  collectionRef: CollectionRef,
  conditions: readonly Condition[],
): Promise<string> {
  const { param, collection } = collectionClient(collectionRef)
  const query = toQuery(conditions)
  return jobIdOf(await readJson(collection.$delete({ param, query }, { headers: RESPOND_ASYNC })))
}

/** Starts a job that merges a patch into all documents that match. Resolves with its id. */
export async function patchMatching(
  collectionRef: CollectionRef,
  conditions: readonly Condition[],
  patch: string,
): Promise<string> {
  const { param, collection } = collectionClient(collectionRef)
  const headers = { ...JSON_TYPE, ...RESPOND_ASYNC }
  return jobIdOf(
    await readJson(
      collection.$patch({ param, query: toQuery(conditions) }, { headers, init: { body: patch } }),
    ),
  )
}
