import { ApiFailure, isSignedOut, NoResponse, readJson, requireOk } from '../../api/client.ts'
import {
  ConflictError,
  collectionClient,
  documentClient,
  hasStatus,
  JSON_TYPE,
  jobIdOf,
  RESPOND_ASYNC,
  readStoredDocument,
  type StoredDocument,
  toQuery,
} from '../document-client.ts'
import { readCurrent, readDocument } from '../document-requests.ts'
import type { Condition } from '../model/conditions.ts'
import type { CollectionRef } from '../use-data-location.ts'

/** A version of a document. */
type Version = Pick<StoredDocument, 'id' | 'etag'>

/** A changed document. */
export interface DocumentChange {
  readonly id: string
  /** The version before the change; undefined if it created the document. */
  readonly before: StoredDocument | undefined
  /** The version after the change; undefined if it deleted the document. */
  readonly after: Version | undefined
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
  readonly verb: 'changed' | 'created' | 'deleted' | 'restored'
  readonly changes: readonly DocumentChange[]
  /** Documents whose change may have been made come first. */
  readonly failures: readonly DocumentFailure[]
  /** Number of documents that someone else deleted before. */
  readonly gone: number
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

/** Deletes these versions of documents. A document that was changed since then is kept. */
export const deleteEach = (collectionRef: CollectionRef, documents: readonly StoredDocument[]) =>
  changeEach('deleted', documents, async (document) => {
    const isDeleted = await deleteDocument(collectionRef, document)
    return isDeleted ? { before: document, after: undefined } : 'gone'
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
  const changes = isDeleted ? [{ id: document.id, before: document, after: undefined }] : []
  return { verb: 'deleted', changes, failures: [], gone: isDeleted ? 0 : 1 }
}

/** Merges a patch into these versions of documents. */
export const patchEach = (
  collectionRef: CollectionRef,
  documents: readonly StoredDocument[],
  patch: string,
) =>
  changeEach('changed', documents, (before) => {
    const { param, document } = documentClient(collectionRef, before.id)
    const headers = { 'Content-Type': 'application/merge-patch+json', 'If-Match': before.etag }
    const request = document.$patch({ param }, { headers, init: { body: patch } })
    return changeVersion(collectionRef, before, readStoredDocument(request))
  })

/**
 * Restores the documents before a change, and deletes those that it created. A document that someone
 * else changed since then, or created again, is kept; one that someone else deleted stays deleted.
 */
export async function undoChanges(
  collectionRef: CollectionRef,
  changes: readonly DocumentChange[],
): Promise<SelectionOutcome> {
  const verb = changes.every(({ before }) => before === undefined) ? 'deleted' : 'restored'
  return changeEach(verb, changes, async ({ id, before, after }) => {
    if (before === undefined) {
      const isDeleted = after !== undefined && (await deleteDocument(collectionRef, after))
      return isDeleted ? { before, after: undefined } : 'gone'
    }
    const { param, document } = documentClient(collectionRef, id)
    const put = (condition: Record<string, string>) => {
      const headers = { ...JSON_TYPE, ...condition }
      return readStoredDocument(document.$put({ param }, { headers, init: { body: before.json } }))
    }
    if (after !== undefined) {
      return changeVersion(collectionRef, before, put({ 'If-Match': after.etag }))
    }
    try {
      return { before, after: await put({ 'If-None-Match': '*' }) }
    } catch (error) {
      throw hasStatus(error, 412) ? new Error('Someone created it again.') : error
    }
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

/**
 * Deletes a document if its ETag matches. Resolves with `false` if someone else deleted it first.
 *
 * @throws ConflictError if the document was changed.
 */
async function deleteDocument(
  collectionRef: CollectionRef,
  { id, etag }: Pick<StoredDocument, 'id' | 'etag'>,
): Promise<boolean> {
  const { param, document } = documentClient(collectionRef, id)
  const headers = { 'If-Match': etag, Prefer: 'return=minimal' }
  try {
    await requireOk(document.$delete({ param }, { headers }))
    return true
  } catch (error) {
    if (!hasStatus(error, 404, 412)) throw error
    const current = await readCurrent(collectionRef, id)
    if (current !== null) throw new ConflictError(current)
    return false
  }
}

type Changed = Pick<DocumentChange, 'before' | 'after'> | 'gone'

/** Changes documents, a few at a time, until the server is unreachable or the session ends. */
async function changeEach<T extends { readonly id: string }>(
  verb: SelectionOutcome['verb'],
  documents: readonly T[],
  change: (document: T) => Promise<Changed>,
): Promise<SelectionOutcome> {
  const changes: DocumentChange[] = []
  const failures: DocumentFailure[] = []
  let gone = 0
  let isOver = false
  await mapParallel(documents, async (document) => {
    const { id } = document
    if (isOver) {
      failures.push({ id, reason: 'Not attempted.', isUnknown: false })
      return
    }
    try {
      const versions = await change(document)
      if (versions === 'gone') gone++
      else changes.push({ id, ...versions })
    } catch (error) {
      const isUnknown = error instanceof NoResponse
      isOver ||= isUnknown || isSignedOut(error)
      failures.push({ id, reason: reasonOf(error as Error), isUnknown })
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
  before: StoredDocument,
  change: Promise<StoredDocument>,
): Promise<Changed> {
  try {
    return { before, after: await change }
  } catch (error) {
    if (!hasStatus(error, 412)) throw error
    // If the read fails too, report the rejection: the document was not changed.
    const current = await readCurrent(collectionRef, before.id).catch(() => undefined)
    if (current === null) return 'gone'
    throw error
  }
}

/** Number of requests at a time. */
const CONCURRENCY = 6

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
