import type { DocumentFields } from '../../server/contract/document.ts'
import type { DocumentIndex } from '../../server/contract/document-index.ts'
import type { JobView } from '../../server/contract/job.ts'
import { parseJson } from '../../server/contract/json/parse-json.ts'
import { ApiFailure, awaitResponse, databaseApi, readJson, requireOk } from '../api/client.ts'
import type { DataSearch, PagePosition } from './data-search.ts'
import {
  collectionClient,
  documentClient,
  hasStatus,
  readStoredDocument,
  readStoredJson,
  type StoredDocument,
  type StoredJson,
  toQuery,
} from './document-client.ts'
import { type Condition, conditionsOf } from './model/conditions.ts'
import { parsePlan, type QueryPlan } from './model/query-plan.ts'
import type { CollectionRef } from './use-data-location.ts'

/** Documents per page. */
export const PAGE_SIZE = 50

/** A page of a collection. */
export interface DocumentsPage {
  readonly documents: readonly DocumentFields[]
  /** Where the next page begins; undefined on the last page. */
  readonly next: PagePosition | undefined
  /** Undefined if all documents were listed in the order of ids. */
  readonly plan: QueryPlan | undefined
}

/** Fetches a page of a collection. */
export async function readPage(
  collectionRef: CollectionRef,
  { filter, sort, after, cursor }: DataSearch,
  signal: AbortSignal,
): Promise<DocumentsPage> {
  const parameters = { limit: `${PAGE_SIZE}`, sort, after, cursor }
  const response = await requireOk(
    list(collectionRef, conditionsOf(filter), parameters, { signal }),
  )
  const documents: unknown = await awaitResponse(response.text().then(parseJson))
  return {
    documents: documents as DocumentFields[],
    next: nextOf(response.headers.get('Link')),
    plan: parsePlan(response.headers.get('Query-Plan')),
  }
}

/** Counts the documents that match a filter. */
export async function countDocuments(
  collectionRef: CollectionRef,
  filter: string | undefined,
  signal: AbortSignal,
): Promise<number> {
  const response = await requireOk(
    list(collectionRef, conditionsOf(filter), { limit: '1' }, { signal, count: true }),
  )
  await awaitResponse(response.text())
  return Number(response.headers.get('X-Total-Count'))
}

function list(
  collectionRef: CollectionRef,
  conditions: readonly Condition[],
  parameters: Readonly<Record<string, string | undefined>>,
  { signal, count = false }: { readonly signal: AbortSignal; readonly count?: boolean },
) {
  const given = Object.entries(parameters).filter(([, value]) => value !== undefined)
  const query = { ...toQuery(conditions), ...Object.fromEntries(given) } as Record<string, string[]>
  const { param, collection } = collectionClient(collectionRef)
  return collection.$get(
    { param, query },
    { headers: count ? { Prefer: 'count=exact' } : {}, init: { signal } },
  )
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

/** Fetches a document; null if it does not exist. */
export const readCurrent = (
  collectionRef: CollectionRef,
  id: string,
): Promise<StoredDocument | null> =>
  readDocument(collectionRef, id).catch((error: Error) => {
    if (hasStatus(error, 404)) return null
    throw error
  })

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

/** Fetches the indexes of a collection. */
export async function readIndexes(
  collectionRef: CollectionRef,
  signal: AbortSignal,
): Promise<readonly DocumentIndex[]> {
  const { param, indexes } = collectionClient(collectionRef)
  return readJson(indexes.$get({ param }, { init: { signal } }))
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

/** Returns the position in `Link: </_db/a/b?after=x>; rel="next"` (RFC 8288). */
function nextOf(link: string | null): PagePosition | undefined {
  const target = link === null ? null : /^<([^>]*)>; *rel="next"/.exec(link)
  if (target?.[1] === undefined) return undefined
  const query = new URL(target[1], location.href).searchParams
  const [after, cursor] = [query.get('after'), query.get('cursor')]
  if (cursor !== null) return { cursor }
  return after === null ? undefined : { after }
}
