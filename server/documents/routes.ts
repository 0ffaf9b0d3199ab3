import { hash } from 'node:crypto'
import { type Context, Hono } from 'hono'
import { type Conditions, matches, matchesNone } from '../contract/conditions.ts'
import {
  BULK_BYTES,
  COLLECTION_PARAMETER,
  DOCUMENT_BYTES,
  isCollectionName,
  PAGE,
} from '../contract/document.ts'
import { Failure } from '../failure.ts'
import type { AppEnv, RequestView } from '../http/env.ts'
import { queueCallerOf } from '../http/guards/queue-caller.ts'
import { createReadAhead, type ReadAhead } from '../http/guards/read-ahead.ts'
import type { RequireRole } from '../http/guards/require-role.ts'
import { requireJsonType } from '../http/input/body/json-body.ts'
import { bodyChunks, isCompressed, readBody } from '../http/input/body/request-body.ts'
import { textBody } from '../http/input/body/text-body.ts'
import { conditionsOf, requireNoConditions } from '../http/input/conditions.ts'
import { pathParam } from '../http/input/path-param.ts'
import {
  jobHeaders,
  MINIMAL,
  prefersAsync,
  prefersCount,
  prefersMinimal,
} from '../http/input/prefer.ts'
import { requestHeader } from '../http/input/request-header.ts'
import { requireNoParameters, searchParameters } from '../http/input/search-parameters.ts'
import { acceptedVersion } from '../http/input/version.ts'
import { described } from '../http/openapi/describe.ts'
import { nextLink, requestedPath } from '../http/output/next-link.ts'
import { notCollectionName } from '../http/output/no-route.ts'
import { partsBody } from '../http/output/parts-body.ts'
import type { Reserve } from '../http/output/response-memory.ts'
import { VARY_ACCEPT } from '../http/output/vary.ts'
import type { BeginImport } from '../jobs/import-job.ts'
import type { CollectionRef, DocumentRef } from '../storage/document-ref.ts'
import { arrayResponse } from './array-response.ts'
import {
  acceptedResponse,
  type WholeCollections,
  wholeCollectionRoutes,
} from './collections/whole-collection-routes.ts'
import { collection, document } from './describe-routes.ts'
import type { ChangeAhead, Documents, FoundPage } from './documents.ts'
import {
  type ExportCollectionDeps,
  exportCollection,
  exportFormatOf,
} from './export/export-routes.ts'
import { importHandler } from './import/import-routes.ts'
import type { Importer } from './import/importer.ts'
import { type CreateBody, createBodyOf, readCreateBody } from './json/create-body.ts'
import { filterOf } from './query/filter.ts'
import { type DocumentQuery, isPlanned, parseDocumentQuery } from './query/query.ts'
import type { Page } from './query/scan/read-page.ts'
import type { StoredDocument } from './repository/stored-documents.ts'
import type { CurrentSchemaOf } from './schemas/schemas.ts'

export interface DocumentRoutesDeps extends ExportCollectionDeps {
  readonly documents: Documents
  readonly importer: Pick<Importer, 'run'>
  readonly beginImport: BeginImport
  readonly wholeCollections: WholeCollections
  readonly requireRole: RequireRole
  readonly reserve: Reserve
  readonly currentSchema: CurrentSchemaOf
  /** Returns the id of an existing database. */
  readonly idOf: (database: string) => string
}

const PATH = `/${COLLECTION_PARAMETER}` as const

/**
 * A page whose reading began before the caller was known: neither an export nor a job. A long query
 * waits for `permit`.
 */
interface PageAhead {
  readonly parameters: URLSearchParams
  readonly query: DocumentQuery
  readonly found: Promise<FoundPage>
  readonly permit: () => void
}

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
  wholeCollections,
  requireRole,
  reserve,
  currentSchema,
  idOf,
  ...exports
}: DocumentRoutesDeps) {
  const collectionOf = createCollectionOf(idOf)
  const refOf = (c: Context<AppEnv>): DocumentRef => {
    requireNoParameters(c, 'A request for one document')
    return { ...collectionOf(c), id: pathParam(c, 'id') }
  }
  /**
   * Starts a listing as a job. Returns the first batch with the job's location, or 304 without a job
   * if the client has that batch.
   */
  async function beginListing(
    c: Context<AppEnv>,
    where: CollectionRef,
    query: DocumentQuery,
  ): Promise<Response> {
    const { after, limit } = query
    const filter = filterOf(query.conditions)
    const bounds = {
      batches: 1,
      reserve: (bytes: number) => reserve(c, bytes),
      caller: queueCallerOf(c),
    }
    const page = await documents.readInIdOrder(where, filter, after, limit, bounds)
    const tag = tagOf(page)
    const conditions = conditionsOf(c)
    requireMatch(conditions, tag)
    const headers: Record<string, string> = {
      ETag: `"${tag}"`,
      ...jsonHeaders(c),
    }
    if (page.next !== undefined) headers.Link = nextLink(c, ['after', page.next.id])
    if (!matchesNone(conditions, tag)) return c.body(null, 304, headers)
    const { id } = await wholeCollections.begin(where, 'list', { filter, after }, bounds.caller.id)
    const [body, length] = partsBody(page.json)
    return c.body(body, 206, { ...headers, ...length, ...jobHeaders(c, id) })
  }
  const find = (
    c: Context<AppEnv>,
    where: CollectionRef,
    query: DocumentQuery,
    permission?: Promise<void>,
  ) =>
    documents.find(where, query, {
      count: prefersCount(c),
      reserve: (bytes) => permission?.then(() => reserve(c, bytes)) ?? reserve(c, bytes),
      caller: () => queueCallerOf(c),
      permission,
    })
  const documentAhead = createReadAhead((c) => documents.read(refOf(c), conditionsOf(c)))
  const pageAhead = createReadAhead((c): PageAhead | undefined => {
    const parameters = searchParameters(c)
    if (prefersAsync(c) || exportFormatOf(c, parameters) !== undefined) return undefined
    const query = parseDocumentQuery(parameters)
    if (query.limit > PAGE.default) return undefined
    const { promise, resolve: permit } = Promise.withResolvers<void>()
    const found = Promise.resolve(find(c, collectionOf(c), query, promise))
    // The handler awaits it, unless the caller has no permission.
    found.catch(() => {})
    return { parameters, query, found, permit }
  })
  const schemaAhead = createReadAhead((c) => currentSchema(collectionOf(c)))
  const changeAhead = createReadAhead((c): ChangeAhead => {
    const ref = refOf(c)
    const ahead = { stored: documents.stored(ref), schema: currentSchema(ref) }
    for (const reading of Object.values(ahead)) reading.catch(() => {})
    return ahead
  })
  const storedAhead = createReadAhead((c) => documents.stored(refOf(c)))
  /** Returns what was read ahead, unless it could change while the body arrives. */
  const unlessSlow = <T>(c: Context<AppEnv>, { take }: ReadAhead<T>): T | undefined => {
    const reading = take(c)
    return c.env.incoming?.complete === true ? reading : undefined
  }
  const toReadDocument = requireRole('viewer', { readAhead: documentAhead.begin })
  const toReadPage = requireRole('viewer', { readAhead: pageAhead.begin })
  const toCreate = requireRole('operator', { readAhead: schemaAhead.begin })
  const toChange = requireRole('operator', { readAhead: changeAhead.begin })
  const toDelete = requireRole('operator', { readAhead: storedAhead.begin })
  const imports = importHandler({ importer, beginImport, collectionOf, jsonHeaders })
  return new Hono<AppEnv>()
    .get(`${PATH}/:id`, described(document.get, toReadDocument), (c) => {
      const json = jsonHeaders(c)
      const conditions = conditionsOf(c)
      const respond = (found: StoredDocument) =>
        matchesNone(conditions, found.tag)
          ? documentResponse(found, 200, json)
          : c.body(null, 304, { ETag: `"${found.tag}"`, ...VARY_ACCEPT })
      const found = documentAhead.take(c) ?? documents.read(refOf(c), conditions)
      return found instanceof Promise ? found.then<Response>(respond) : respond(found)
    })
    .put(`${PATH}/:id`, described(document.put, toChange), async (c) => {
      const json = jsonHeaders(c)
      const ahead = unlessSlow(c, changeAhead)
      const text = await textBody(c, DOCUMENT_BYTES)
      const conditions = conditionsOf(c)
      if (conditions.noneMatch === '*' && conditions.match === undefined) {
        const created = await documents.createAt(refOf(c), text, ahead?.schema)
        return documentResponse(created, 201, { ...json, Location: requestedPath(c) })
      }
      const replaced = await documents
        .replace(refOf(c), text, conditions, { ahead, signal: () => c.req.raw.signal })
        .catch(withCreateAdvice)
      return documentResponse(replaced, 200, json)
    })
    .patch(`${PATH}/:id`, described(document.patch, toChange), async (c) => {
      const json = jsonHeaders(c)
      const ahead = unlessSlow(c, changeAhead)
      const text = await textBody(c, DOCUMENT_BYTES)
      const options = { ahead, signal: () => c.req.raw.signal }
      const patched = await documents.patch(refOf(c), text, conditionsOf(c), options)
      return documentResponse(patched, 200, json)
    })
    .delete(`${PATH}/:id`, described(document.delete, toDelete), async (c) => {
      const json = jsonHeaders(c)
      const stored = storedAhead.take(c)
      const deleted = await documents.delete(refOf(c), conditionsOf(c), stored && { stored })
      if (!prefersMinimal(c)) return documentResponse(deleted, 200, json)
      return c.body(null, 204, MINIMAL)
    })
    .get(PATH, described<ListInput>(collection.get, toReadPage), (c) => {
      const json = jsonHeaders(c)
      const where = collectionOf(c)
      const ahead = pageAhead.take(c)
      const parameters = ahead?.parameters ?? searchParameters(c)
      const format = ahead === undefined ? exportFormatOf(c, parameters) : undefined
      if (format !== undefined) return exportCollection(c, where, format, parameters, exports)
      const conditions = conditionsOf(c)
      const query = ahead?.query ?? parseDocumentQuery(parameters)
      if (ahead === undefined && prefersAsync(c) && isListable(query)) {
        return beginListing(c, where, query)
      }
      const respond = (page: FoundPage): Response => {
        const tag = tagOf(page)
        requireMatch(conditions, tag)
        const plan = pageHeaders(query, page)
        const headers: Record<string, string> = {
          ...plan,
          ETag: `"${tag}"`,
          ...json,
        }
        if (page.nextParameter !== undefined) {
          headers.Link = nextLink(c, page.nextParameter, parameters)
        }
        if (!matchesNone(conditions, tag)) return c.body(null, 304, headers)
        const [body, length] = partsBody(page.json)
        return new Response(body, { status: 200, headers: { ...headers, ...length } })
      }
      ahead?.permit()
      const found = ahead?.found ?? find(c, where, query)
      return found instanceof Promise ? found.then<Response>(respond) : respond(found)
    })
    .post(PATH, described(collection.post, toCreate), imports, async (c) => {
      const json = jsonHeaders(c)
      const schema = unlessSlow(c, schemaAhead)
      const where = collectionOf(c)
      requireNoConditions(conditionsOf(c), NEW_DOCUMENTS)
      const body = await readDocuments(c)
      if ('parts' in body) {
        const caller = queueCallerOf(c)
        const created = await documents.createMany(where, body.parts, prefersAsync(c), caller)
        if ('job' in created) return acceptedResponse(c, { id: created.job })
        const tags = created.documents.map(({ tag }) => tag).join('\n')
        return arrayResponse(created, { ETag: `"${tagOf({ tags })}"`, ...json })
      }
      const created = await documents.create(where, body.text, schema)
      const Location = `${requestedPath(c)}/${encodeURIComponent(created.id)}`
      return documentResponse(created, 201, { ...json, Location })
    })
    .route(
      '/',
      wholeCollectionRoutes(PATH, {
        collections: wholeCollections,
        requireRole,
        collectionOf,
        jsonHeaders,
      }),
    )
}

/** Adds to the failure of a `PUT` of an absent document how to create it. */
function withCreateAdvice(error: unknown): never {
  if (!(error instanceof Failure) || error.code !== 'not-found') throw error
  throw new Failure(
    'not-found',
    `${error.message} PUT with the header If-None-Match: * creates it.`,
  )
}

const NEW_DOCUMENTS = 'new documents. Create one with PUT instead'

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

/**
 * Returns a function that returns the collection which the path of a request names.
 *
 * @param idOf returns the id of an existing database.
 * @throws Failure `not-found`
 */
export const createCollectionOf =
  (idOf: (database: string) => string) =>
  (c: Context<AppEnv>): CollectionRef => {
    const collection = pathParam(c, 'collection')
    if (!isCollectionName(collection)) throw notCollectionName(collection)
    return { database: idOf(c.get('database')), collection }
  }

/**
 * Returns the headers of JSON in the version that the request accepts.
 *
 * @throws Failure `not-acceptable`
 */
export const jsonHeaders = (c: RequestView) => ({
  'Content-Type': `application/json; version=${acceptedVersion(requestHeader(c, 'accept'))}`,
  ...VARY_ACCEPT,
})

// Not `c.body`: it creates `Headers` if there are several, and node-server writes a plain object
// faster. This would drop headers set by `c.header`; these routes set none.
const documentResponse = (
  { tag, body }: StoredDocument,
  status: 200 | 201,
  headers: Readonly<Record<string, string>>,
): Response => new Response(body, { status, headers: { ETag: `"${tag}"`, ...headers } })

/** Returns whether a job can list a query: whole documents in the order of their ids. */
const isListable = ({ sort, fields, cursor }: DocumentQuery): boolean =>
  sort.length === 0 && fields === undefined && cursor === undefined

/** Returns what a query read and, if requested, the count, as headers. */
function pageHeaders(query: DocumentQuery, page: FoundPage): Record<string, string> {
  const headers: Record<string, string> = {}
  if (page.total !== undefined) {
    headers['Preference-Applied'] = 'count=exact'
    headers['X-Total-Count'] = String(page.total)
  }
  if (isPlanned(query)) {
    const access = page.index === undefined ? 'scan' : `index=${page.index}`
    headers['Query-Plan'] = `${access}; scanned=${page.scanned}; returned=${page.returned}`
  }
  return headers
}

/**
 * Checks `If-Match` for a page (RFC 9110 §13.1.1).
 *
 * @throws Failure `precondition-failed`
 */
function requireMatch(conditions: Conditions, tag: string): void {
  if (matches(conditions, tag)) return
  throw new Failure(
    'precondition-failed',
    'The documents have changed, or do not match the precondition of the request.',
  )
}

/** Returns a tag of several documents. */
const tagOf = ({ tags, total }: Pick<Page, 'tags'> & { readonly total?: number }): string =>
  hash('sha256', total === undefined ? tags : `${tags}\n${total}`, 'base64url').slice(0, 22)
