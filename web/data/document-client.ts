import { COLLECTION_PARAMETER, type DocumentFields } from '../../server/contract/document.ts'
import type { JobView } from '../../server/contract/job.ts'
import { ApiFailure, awaitResponse, databaseApi, requireOk } from '../api/client.ts'
import type { Condition } from './model/conditions.ts'
import type { CollectionRef } from './use-data-location.ts'

// Documents are sent and received as text, so that they are shown and stored exactly as written.

/** A stored JSON text and its ETag. */
export interface StoredJson {
  readonly json: string
  readonly etag: string
}

/** A stored document and its ETag. */
export interface StoredDocument extends StoredJson {
  readonly id: string
}

/** Returns the routes of a collection, its schema and indexes, and the parameters of their paths. */
export function collectionClient({ database, collection }: CollectionRef) {
  const client = databaseApi(database)
  return {
    collection: client[COLLECTION_PARAMETER],
    schema: client._schema[COLLECTION_PARAMETER],
    indexes: client._index[COLLECTION_PARAMETER],
    param: { collection: encodeURIComponent(collection) },
  }
}

/** Returns the route of a document and the parameters of its URL, `/<collection>/?id=<id>`. */
export function documentClient(collectionRef: CollectionRef, id: string) {
  const { collection, param } = collectionClient(collectionRef)
  // Proxies reject or rewrite some ids in a path. Hono's client encodes no parameter, so that this
  // one adds the query.
  return { document: collection[':id'], param: { ...param, id: `?id=${encodeURIComponent(id)}` } }
}

/** Returns the query parameters of conditions. */
export function toQuery(conditions: readonly Condition[]): Record<string, string[]> {
  const query = new Map<string, string[]>()
  for (const { name, value } of conditions) query.set(name, [...(query.get(name) ?? []), value])
  return Object.fromEntries(query)
}

export const JSON_TYPE = { 'Content-Type': 'application/json' }

export const RESPOND_ASYNC = { Prefer: 'respond-async' }

/** Returns the id of a job that a request has started. */
export const jobIdOf = (job: unknown): string => (job as Pick<JobView, 'id'>).id

interface TextResponse {
  readonly ok: boolean
  readonly status: number
  readonly headers: Headers
  json(): Promise<unknown>
  text(): Promise<string>
}

/** Resolves with the JSON text of a successful response. Throws if it has no ETag. */
export async function readStoredJson(pending: Promise<TextResponse>): Promise<StoredJson> {
  const response = await requireOk(pending)
  const etag = response.headers.get('ETag')
  if (etag === null) throw new Error(NO_ETAG)
  return { json: await awaitResponse(response.text()), etag }
}

const NO_ETAG =
  'The response has no ETag header, which the console needs to detect conflicting changes. Check ' +
  'the proxy in front of Gatehouse, which may remove it. If you have just saved, your change is stored.'

/** Resolves with the document of a successful response. */
export async function readStoredDocument(pending: Promise<TextResponse>): Promise<StoredDocument> {
  const { json, etag } = await readStoredJson(pending)
  const { id } = JSON.parse(json) as DocumentFields
  return { id, json, etag }
}

/** Someone else changed the record. `current` is the stored version; null if it was deleted. */
export class ConflictError extends Error {
  override readonly name = 'ConflictError'
  readonly current: StoredJson | null

  constructor(current: StoredJson | null) {
    super('Someone else changed it.')
    this.current = current
  }
}

/** Returns whether the server rejected a request with one of these statuses. */
export const hasStatus = (error: unknown, ...statuses: number[]): boolean =>
  error instanceof ApiFailure && statuses.includes(error.status)
