import type { DocumentFields } from '../../server/contract/document.ts'
import type { JobView } from '../../server/contract/job.ts'
import { ApiFailure, awaitResponse, databaseApi, readJson, requireOk } from '../app/api.ts'
import {
  collectionClient,
  documentClient,
  readStoredDocument,
  readStoredJson,
  type StoredJson,
} from './document-client.ts'
import type { ParsedFilter } from './table/document-filter.ts'
import type { CollectionRef } from './use-documents-location.ts'

/** Documents per page. */
const PAGE = 50

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
  const { param, collection } = collectionClient(collectionRef)
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
  const { param, document } = documentClient(collectionRef, id)
  return readStoredDocument(
    document.$get({ param }, { init: signal === undefined ? {} : { signal } }),
  )
}

/** Fetches the schema of a collection; null if it has none. */
export async function readSchema(
  collectionRef: CollectionRef,
  signal?: AbortSignal,
): Promise<StoredJson | null> {
  const { param, schema } = collectionClient(collectionRef)
  try {
    return await readStoredJson(
      schema.$get({ param }, { init: signal === undefined ? {} : { signal } }),
    )
  } catch (error) {
    if (error instanceof ApiFailure && error.status === 404 && error.id === 'not_found') return null
    throw error
  }
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

/** Returns the `after` parameter of `Link: </_db/a/b?after=x>; rel="next"` (RFC 8288). */
function nextOf(link: string | null): string | undefined {
  const target = link === null ? null : /^<([^>]*)>; *rel="next"/.exec(link)
  if (target?.[1] === undefined) return undefined
  return new URL(target[1], location.href).searchParams.get('after') ?? undefined
}
