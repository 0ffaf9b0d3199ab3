import { COLLECTION_PARAMETER, type DocumentFields } from '../../server/contract/document.ts'
import type { JobView } from '../../server/contract/job.ts'
import { ApiFailure, awaitResponse, databaseApi, readJson, requireOk } from '../app/api.ts'
import type { ParsedFilter } from './table/document-filter.ts'
import type { CollectionRef } from './use-documents-location.ts'

// Documents are sent and received as text, so that they are shown and stored exactly as written.

/** Documents per page. */
const PAGE = 50

/** A stored document and its ETag. */
export interface StoredDocument {
  readonly id: string
  readonly json: string
  readonly etag: string
}

/** A page of a collection. */
export interface DocumentsPage {
  readonly documents: readonly DocumentFields[]
  /** Id to continue after; undefined on the last page. */
  readonly next: string | undefined
}

/** Fetches a page of a collection, ordered by id. */
export async function readPage(
  collectionRef: CollectionRef,
  { after, filter }: { after: string | undefined; filter: ParsedFilter | undefined },
  signal: AbortSignal,
): Promise<DocumentsPage> {
  const query = new Map<string, string[]>([['limit', [`${PAGE}`]]])
  if (after !== undefined) query.set('after', [after])
  if (filter !== undefined && 'fields' in filter) {
    for (const [field, value] of filter.fields) {
      query.set(field, [...(query.get(field) ?? []), value])
    }
  }
  const { param, collection } = clientOf(collectionRef)
  const response = await requireOk(
    collection.$get({ param, query: Object.fromEntries(query) }, { init: { signal } }),
  )
  const documents = (await awaitResponse(response.json())) as DocumentFields[]
  return { documents, next: nextOf(response.headers.get('Link')) }
}

/**
 * Fetches a document.
 *
 * @throws ApiFailure 404 if it does not exist.
 */
export async function readDocument(collectionRef: CollectionRef, id: string, signal?: AbortSignal) {
  const { param, document } = documentOf(collectionRef, id)
  return stored(document.$get({ param }, { init: signal === undefined ? {} : { signal } }))
}

/**
 * Creates a document from JSON text.
 *
 * @throws ApiFailure 409 if its id is taken.
 */
export async function createDocument(
  collectionRef: CollectionRef,
  json: string,
): Promise<StoredDocument> {
  const { param, collection } = clientOf(collectionRef)
  return stored(collection.$post({ param }, { headers: JSON_TYPE, init: { body: json } }))
}

/**
 * Replaces a document if its ETag matches.
 *
 * @throws ApiFailure 412 if it was changed.
 */
export async function replaceDocument(
  collectionRef: CollectionRef,
  was: StoredDocument,
  json: string,
): Promise<StoredDocument> {
  const { param, document } = documentOf(collectionRef, was.id)
  const headers = { ...JSON_TYPE, 'If-Match': was.etag }
  return stored(document.$put({ param }, { headers, init: { body: json } }))
}

/**
 * Deletes a document if its ETag matches.
 *
 * @throws ApiFailure 412 if it was changed.
 */
export async function deleteDocument(
  collectionRef: CollectionRef,
  { id, etag }: StoredDocument,
): Promise<void> {
  const { param, document } = documentOf(collectionRef, id)
  const headers = { 'If-Match': etag, Prefer: 'return=minimal' }
  await requireOk(document.$delete({ param }, { headers }))
}

/** A collection's schema and its ETag. */
export type StoredSchema = Omit<StoredDocument, 'id'>

/** Fetches the schema of a collection; null if it has none. */
export async function readSchema(
  collectionRef: CollectionRef,
  signal?: AbortSignal,
): Promise<StoredSchema | null> {
  const { param, schema } = clientOf(collectionRef)
  try {
    return await textOf(schema.$get({ param }, { init: signal === undefined ? {} : { signal } }))
  } catch (error) {
    if (error instanceof ApiFailure && error.status === 404 && error.id === 'not_found') return null
    throw error
  }
}

/**
 * Stores a schema if the current one has the ETag `was` or, if `was` is undefined, if none exists.
 *
 * @throws ApiFailure 412 if the schema was changed.
 */
export async function putSchema(
  collectionRef: CollectionRef,
  was: string | undefined,
  json: string,
) {
  const { param, schema } = clientOf(collectionRef)
  const condition: Record<string, string> =
    was === undefined ? { 'If-None-Match': '*' } : { 'If-Match': was }
  const headers = { ...JSON_TYPE, ...condition }
  return textOf(schema.$put({ param }, { headers, init: { body: json } }))
}

/**
 * Deletes the schema of a collection if its ETag matches.
 *
 * @throws ApiFailure 412 if the schema was changed.
 */
export async function deleteSchema(collectionRef: CollectionRef, etag: string): Promise<void> {
  const { param, schema } = clientOf(collectionRef)
  await requireOk(schema.$delete({ param }, { headers: { 'If-Match': etag } }))
}

/** Starts a job that deletes all documents of a collection. Resolves to the job's id. */
export async function deleteAll(collectionRef: CollectionRef): Promise<string> {
  const { param, collection } = clientOf(collectionRef)
  return jobOf(await readJson(collection.$delete({ param }, { headers: LATER })))
}

/** Starts a job that creates all documents of a JSON array or none. Resolves to the job's id. */
export async function uploadAll(collectionRef: CollectionRef, array: Blob): Promise<string> {
  const { param, collection } = clientOf(collectionRef)
  const headers = { ...JSON_TYPE, ...LATER }
  return jobOf(await readJson(collection.$post({ param }, { headers, init: { body: array } })))
}

/**
 * Fetches the progress of a job.
 *
 * @throws ApiFailure 404 if the job is unknown or expired.
 */
export async function readJob(database: string, id: string, signal: AbortSignal): Promise<JobView> {
  const { _job } = databaseApi(database)
  const param = { id: encodeURIComponent(id) }
  return (await readJson(_job[':id'].$get({ param }, { init: { signal } }))) as JobView
}

const jobOf = (job: unknown) => (job as Pick<JobView, 'id'>).id

const LATER = { Prefer: 'respond-async' }

const JSON_TYPE = { 'Content-Type': 'application/json' }

/** Returns the routes of a collection and of its schema, and the parameters of their paths. */
function clientOf({ database, collection }: CollectionRef) {
  const client = databaseApi(database)
  return {
    collection: client[COLLECTION_PARAMETER],
    schema: client._schema[COLLECTION_PARAMETER],
    param: { collection: encodeURIComponent(collection) },
  }
}

/** Returns the route of a document and the parameters of its path. */
function documentOf(collectionRef: CollectionRef, id: string) {
  // Browsers resolve these as path segments, even when percent-encoded.
  if (id === '.' || id === '..') {
    throw new ApiFailure(
      404,
      0,
      `Browsers cannot request the id “${id}”. Use an API client instead.`,
    )
  }
  const { collection, param } = clientOf(collectionRef)
  return { document: collection[':id'], param: { ...param, id: encodeURIComponent(id) } }
}

interface TextResponse {
  readonly ok: boolean
  readonly status: number
  readonly headers: Headers
  json(): Promise<unknown>
  text(): Promise<string>
}

async function textOf(pending: Promise<TextResponse>): Promise<StoredSchema> {
  const response = await requireOk(pending)
  return { json: await awaitResponse(response.text()), etag: response.headers.get('ETag') ?? '' }
}

async function stored(pending: Promise<TextResponse>): Promise<StoredDocument> {
  const { json, etag } = await textOf(pending)
  const { id } = JSON.parse(json) as DocumentFields
  return { id, json, etag }
}

/** Returns the `after` parameter of `Link: </_db/a/b?after=x>; rel="next"` (RFC 8288). */
function nextOf(link: string | null): string | undefined {
  const target = link === null ? null : /^<([^>]*)>; *rel="next"/.exec(link)
  if (target?.[1] === undefined) return undefined
  return new URL(target[1], location.href).searchParams.get('after') ?? undefined
}
