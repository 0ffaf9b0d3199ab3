import { hash } from 'node:crypto'
import { type Context, Hono } from 'hono'
import {
  BULK_BYTES,
  COLLECTION_PARAMETER,
  DOCUMENT_BYTES,
  isCollectionName,
} from '../contract/document.ts'
import { Failure } from '../failure.ts'
import { described } from '../http/describe.ts'
import type { AppEnv, RequestView } from '../http/env.ts'
import type { RequireRole } from '../http/guards/require-role.ts'
import { requireJsonType } from '../http/input/json-body.ts'
import { partsBody } from '../http/input/parts-body.ts'
import { pathParam } from '../http/input/path-param.ts'
import {
  jobHeaders,
  MINIMAL,
  prefersAsync,
  prefersCount,
  prefersMinimal,
} from '../http/input/prefer.ts'
import { bodyChunks, isCompressed, readBody } from '../http/input/request-body.ts'
import { requestHeader } from '../http/input/request-header.ts'
import { textBody } from '../http/input/text-body.ts'
import { acceptedVersion } from '../http/input/version.ts'
import { nextLink, requestedPath, searchParameters } from '../http/output/next-link.ts'
import type { Reserve } from '../http/output/response-room.ts'
import type { BeginImport } from '../jobs/import-job.ts'
import type { CollectionRef, DocumentRef } from '../storage/document-ref.ts'
import { arrayResponse } from './array-response.ts'
import {
  accepted,
  type WholeCollections,
  wholeCollectionRoutes,
} from './collections/whole-collection-routes.ts'
import { collection, document } from './describe-routes.ts'
import type { Documents, FoundPage } from './documents.ts'
import { type Conditions, matchesNone, readConditions } from './entity-tag.ts'
import {
  type ExportCollectionDeps,
  exportCollection,
  exportFormatOf,
} from './export/export-routes.ts'
import { importHandler } from './import/import-routes.ts'
import type { Importer } from './import/importer.ts'
import { type CreateBody, createBodyOf, readCreateBody } from './json/create-body.ts'
import { type DocumentQuery, parseDocumentQuery } from './query/query.ts'
import { type Page, stateOf } from './query/read-page.ts'
import type { StoredDocument } from './repository/stored-documents.ts'

export interface DocumentRoutesDeps extends ExportCollectionDeps {
  readonly documents: Documents
  readonly importer: Pick<Importer, 'run'>
  readonly beginImport: BeginImport
  readonly whole: WholeCollections
  readonly requireRole: RequireRole
  readonly reserve: Reserve
  /** Returns the id of an existing database. */
  readonly idOf: (database: string) => string
}

const PATH = `/${COLLECTION_PARAMETER}` as const

/** The query string of a listing: its parameters, and filters. */
type ListInput = { in: { query: Record<string, string | string[]> } }

/**
 * Returns the routes of `/<collection>` and `/<collection>/<id>` in every database
 * (docs/http-api.md, "Documents").
 */
export function documentRoutes({
  documents,
  importer,
  beginImport,
  whole,
  requireRole,
  reserve,
  idOf,
  ...exports
}: DocumentRoutesDeps) {
  const collectionOf = (c: Context<AppEnv>) => {
    const collection = pathParam(c, 'collection')
    if (!isCollectionName(collection)) throw new Failure('not-found', 'There is no such path.')
    return { database: idOf(c.get('database')), collection }
  }
  const refOf = (c: Context<AppEnv>): DocumentRef => ({
    ...collectionOf(c),
    id: pathParam(c, 'id'),
  })
  /** Starts a listing as a job. Returns the first batch with the job's location. */
  async function beginListing(
    c: Context<AppEnv>,
    where: CollectionRef,
    query: DocumentQuery,
  ): Promise<Response> {
    const { filter, after, limit } = query
    const bounds = { batches: 1, reserve: (bytes: number) => reserve(c, bytes) }
    const page = await documents.page(where, filter, after, limit, bounds)
    const { id } = await whole.begin(where, 'list', { filter })
    const [body, length] = partsBody(page.json)
    return c.body(body, 206, {
      ETag: `"${tagOf(page)}"`,
      'Content-Type': contentType(c),
      ...(page.next !== undefined && {
        Link: nextLink(c, ['after', page.next.id]),
      }),
      ...length,
      ...jobHeaders(c, id),
    })
  }
  /** Reads that began before the caller was known. */
  const ahead = new WeakMap<Context, ReturnType<Documents['read']>>()
  const readAhead = (c: Context<AppEnv>) => {
    try {
      const reading = documents.read(refOf(c), conditionsOf(c))
      // The handler awaits it, unless the caller has no permission.
      if (reading instanceof Promise) reading.catch(() => {})
      ahead.set(c, reading)
    } catch {
      // The handler fails with the same error, after the checks of the caller.
    }
  }
  const imports = importHandler({ importer, beginImport, collectionOf, contentType })
  return new Hono<AppEnv>()
    .get(`${PATH}/:id`, described(document.get, requireRole('viewer', { readAhead })), (c) => {
      const type = contentType(c)
      const conditions = conditionsOf(c)
      const respond = (found: StoredDocument) =>
        matchesNone(conditions, found.tag)
          ? documentResponse(found, 200, type)
          : c.body(null, 304, { ETag: `"${found.tag}"` })
      const found = ahead.get(c) ?? documents.read(refOf(c), conditions)
      return found instanceof Promise ? found.then<Response>(respond) : respond(found)
    })
    .put(`${PATH}/:id`, described(document.put, requireRole('operator')), async (c) => {
      const type = contentType(c)
      const text = await textBody(c, DOCUMENT_BYTES)
      const conditions = conditionsOf(c)
      if (conditions.noneMatch === '*' && conditions.match === undefined) {
        const created = await documents.createAt(refOf(c), text)
        return documentResponse(created, 201, type, { Location: requestedPath(c) })
      }
      return documentResponse(await documents.replace(refOf(c), text, conditions), 200, type)
    })
    .patch(`${PATH}/:id`, described(document.patch, requireRole('operator')), async (c) => {
      const type = contentType(c)
      const text = await textBody(c, DOCUMENT_BYTES)
      return documentResponse(await documents.patch(refOf(c), text, conditionsOf(c)), 200, type)
    })
    .delete(`${PATH}/:id`, described(document.delete, requireRole('operator')), async (c) => {
      const type = contentType(c)
      const deleted = await documents.delete(refOf(c), conditionsOf(c))
      if (!prefersMinimal(c)) return documentResponse(deleted, 200, type)
      return c.body(null, 204, MINIMAL)
    })
    .get(PATH, described<ListInput>(collection.get, requireRole('viewer')), (c) => {
      const type = contentType(c)
      const where = collectionOf(c)
      const parameters = searchParameters(c)
      const format = exportFormatOf(c, parameters)
      if (format !== undefined) return exportCollection(c, where, format, exports)
      const query = parseDocumentQuery(parameters)
      // A job lists whole documents in the order of their ids.
      if (prefersAsync(c) && query.sort.length === 0 && query.fields === undefined) {
        return beginListing(c, where, query)
      }
      const count = prefersCount(c)
      const respond = (page: FoundPage): Response => {
        const tag = tagOf(page)
        const plan = pageHeaders(query, page)
        const headers: Record<string, string> = { ...plan, ETag: `"${tag}"`, 'Content-Type': type }
        if (page.nextParameter !== undefined) {
          headers.Link = nextLink(c, page.nextParameter, parameters)
        }
        if (!matchesNone(conditionsOf(c), tag)) return c.body(null, 304, headers)
        const [body, length] = partsBody(page.json)
        return new Response(body, { status: 200, headers: { ...headers, ...length } })
      }
      const found = documents.find(where, query, {
        count,
        reserve: (bytes) => reserve(c, bytes),
        signal: () => c.req.raw.signal,
      })
      return found instanceof Promise ? found.then<Response>(respond) : respond(found)
    })
    .post(PATH, described(collection.post, requireRole('operator')), imports, async (c) => {
      const type = contentType(c)
      const where = collectionOf(c)
      const body = await readDocuments(c)
      const later = prefersAsync(c)
      if ('parts' in body) {
        const created = await documents.createMany(where, body.parts, later)
        if ('job' in created) return accepted(c, { id: created.job })
        const states = created.documents.map(({ id, tag }) => stateOf(id, tag)).join('\n')
        const headers = { ETag: `"${tagOf({ states })}"`, 'Content-Type': type }
        return arrayResponse(created, headers)
      }
      const made = await documents.create(where, body.text)
      const location = `${requestedPath(c)}/${encodeURIComponent(made.id)}`
      return documentResponse(made, 201, type, { Location: location })
    })
    .route('/', wholeCollectionRoutes(PATH, { whole, requireRole, collectionOf, contentType }))
}

/** A body up to this size is read whole before it is parsed, bytes. */
const WHOLE = 64 * 1024

async function readDocuments(c: Context<AppEnv>): Promise<CreateBody> {
  requireJsonType(c)
  const length = c.req.header('Content-Length')
  if (length !== undefined && Number(length) <= WHOLE && !isCompressed(c)) {
    return createBodyOf(await readBody(c, WHOLE))
  }
  return readCreateBody(bodyChunks(c, BULK_BYTES))
}

/** Returns the content type of a response, in the version that the request accepts. */
export const contentType = (c: RequestView): string =>
  `application/json; version=${acceptedVersion(requestHeader(c, 'accept'))}`

/** Returns the conditions of a request on the current state. */
export const conditionsOf = (c: RequestView): Conditions =>
  readConditions(requestHeader(c, 'if-match'), requestHeader(c, 'if-none-match'))

// Not `c.body`: it creates `Headers` if there are several, and node-server writes a plain object
// faster. This would drop headers set by `c.header`; these routes set none.
const documentResponse = (
  { tag, body }: StoredDocument,
  status: 200 | 201,
  type: string,
  headers?: Record<string, string>,
): Response =>
  new Response(body, { status, headers: { ETag: `"${tag}"`, 'Content-Type': type, ...headers } })

/** Returns what a query read and, if requested, the count, as headers. */
function pageHeaders(query: DocumentQuery, page: FoundPage): Record<string, string> {
  const headers: Record<string, string> = {}
  if (page.total !== undefined) {
    headers['Preference-Applied'] = 'count=exact'
    headers['X-Total-Count'] = String(page.total)
  }
  if (query.matches !== undefined || query.sort.length > 0) {
    const access = page.index === undefined ? 'scan' : `index=${page.index}`
    headers['Query-Plan'] = `${access}; scanned=${page.scanned}; returned=${page.returned}`
  }
  return headers
}

/** Returns a tag of several documents. */
const tagOf = ({ states, total }: Pick<Page, 'states'> & { readonly total?: number }): string =>
  hash('sha256', total === undefined ? states : `${states}\n${total}`, 'base64url').slice(0, 22)
