import { type Context, Hono } from 'hono'
import { matchesNone } from '../contract/conditions.ts'
import { COLLECTION_PARAMETER, DOCUMENT_BYTES } from '../contract/document.ts'
import { singleValue } from '../contract/query/query-parameter.ts'
import { Failure } from '../failure.ts'
import type { AppEnv } from '../http/env.ts'
import {
  createReadAhead,
  type RequireRole,
  takeIfBodyArrived,
} from '../http/guards/require-role.ts'
import { textBody } from '../http/input/body/json-body.ts'
import { conditionsOf } from '../http/input/headers.ts'
import { MINIMAL, prefersMinimal } from '../http/input/prefer.ts'
import {
  createCollectionParam,
  pathParam,
  requireNoParameters,
  searchParameters,
} from '../http/input/url.ts'
import { described } from '../http/openapi/describe.ts'
import { jsonHeaders, VARY_ACCEPT } from '../http/output/content-negotiation.ts'
import { requestedPath } from '../http/output/next-link.ts'
import { trailingSlash } from '../http/output/no-route.ts'
import type { DocumentRef } from '../storage/document-ref.ts'
import { document } from './describe-routes.ts'
import type { ChangeAhead, Documents } from './documents.ts'
import type { StoredDocument } from './repository/stored-documents.ts'
import type { CurrentSchemaOf } from './schemas/schemas.ts'

export interface DocumentRoutesDeps {
  readonly documents: Documents
  readonly requireRole: RequireRole
  readonly currentSchema: CurrentSchemaOf
  /** Returns the id of an existing database. */
  readonly idOf: (database: string) => string
}

const PATH = `/${COLLECTION_PARAMETER}/:id` as const

/** A request of these routes, in error messages. */
const SUBJECT = 'A request for one document'

/**
 * Returns the routes of `/<collection>/<id>` and `/<collection>/?id=<id>` in every database
 * (docs/http-api.md, "Documents").
 */
export function documentRoutes({
  documents,
  requireRole,
  currentSchema,
  idOf,
}: DocumentRoutesDeps) {
  const collectionOf = createCollectionParam(idOf)
  const refOf = (c: Context<AppEnv>): DocumentRef => {
    const id = pathParam(c, 'id')
    if (id === '') return { ...collectionOf(c), id: queryId(c) }
    requireNoParameters(c, SUBJECT)
    return { ...collectionOf(c), id }
  }
  const documentAhead = createReadAhead((c) => documents.read(refOf(c), conditionsOf(c)))
  const changeAhead = createReadAhead((c): ChangeAhead => {
    const ref = refOf(c)
    const ahead = { stored: documents.stored(ref), schema: currentSchema(ref) }
    for (const reading of Object.values(ahead)) reading.catch(() => {})
    return ahead
  })
  const storedAhead = createReadAhead((c) => documents.stored(refOf(c)))
  const viewerReads = requireRole('viewer', { documents: true, readAhead: documentAhead.begin })
  const editorChanges = requireRole('editor', { readAhead: changeAhead.begin })
  const editorDeletes = requireRole('editor', { readAhead: storedAhead.begin })
  return new Hono<AppEnv>()
    .get(PATH, described(document.get, viewerReads), (c) => {
      const json = jsonHeaders(c)
      const conditions = conditionsOf(c)
      const respond = (found: StoredDocument) =>
        matchesNone(conditions, found.tag)
          ? documentResponse(found, 200, json)
          : c.body(null, 304, { ETag: `"${found.tag}"`, ...VARY_ACCEPT })
      const found = documentAhead.take(c) ?? documents.read(refOf(c), conditions)
      return found instanceof Promise ? found.then<Response>(respond) : respond(found)
    })
    .put(PATH, described(document.put, editorChanges), async (c) => {
      const json = jsonHeaders(c)
      const ahead = takeIfBodyArrived(c, changeAhead)
      const text = await textBody(c, DOCUMENT_BYTES)
      const conditions = conditionsOf(c)
      if (conditions.noneMatch === '*' && conditions.match === undefined) {
        const ref = refOf(c)
        const created = await documents.createAt(ref, text, ahead?.schema)
        const path = requestedPath(c)
        const Location = pathParam(c, 'id') === '' ? `${path}/${encodeURIComponent(ref.id)}` : path
        return documentResponse(created, 201, { ...json, Location })
      }
      const replaced = await documents
        .replace(refOf(c), text, conditions, { ahead, signal: () => c.req.raw.signal })
        .catch(withCreateAdvice)
      return documentResponse(replaced, 200, json)
    })
    .patch(PATH, described(document.patch, editorChanges), async (c) => {
      const json = jsonHeaders(c)
      const ahead = takeIfBodyArrived(c, changeAhead)
      const text = await textBody(c, DOCUMENT_BYTES)
      const options = { ahead, signal: () => c.req.raw.signal }
      const patched = await documents.patch(refOf(c), text, conditionsOf(c), options)
      return documentResponse(patched, 200, json)
    })
    .delete(PATH, described(document.delete, editorDeletes), async (c) => {
      const json = jsonHeaders(c)
      const stored = storedAhead.take(c)
      const deleted = await documents.delete(refOf(c), conditionsOf(c), stored && { stored })
      if (!prefersMinimal(c)) return documentResponse(deleted, 200, json)
      return c.body(null, 204, MINIMAL)
    })
}

/**
 * Returns the id in the query of a request for `/<collection>/`. Proxies reject some characters of
 * ids in a path, such as an encoded slash.
 *
 * @throws Failure `not-found` without an id, otherwise `bad-parameter`.
 */
function queryId(c: Context<AppEnv>): string {
  const id = singleValue('id', searchParameters(c).getAll('id'))
  if (id === undefined) throw trailingSlash()
  requireNoParameters(c, SUBJECT, 'id')
  // PostgreSQL cannot store U+0000.
  if (id !== '' && !id.includes('\0')) return id
  const reason = id === '' ? 'is empty' : 'contains the character U+0000'
  throw new Failure('bad-parameter', `The parameter id ${reason}.`, { field: 'id' })
}

/** Adds to the failure of a `PUT` of an absent document how to create it. */
function withCreateAdvice(error: unknown): never {
  if (!(error instanceof Failure) || error.code !== 'not-found') throw error
  throw new Failure(
    'not-found',
    `${error.message} PUT with the header If-None-Match: * creates it. ` +
      'POST of the collection with ?on-conflict=replace creates or replaces it.',
  )
}

/** Returns the response with a document. */
export function documentResponse(
  { tag, body }: StoredDocument,
  status: 200 | 201,
  headers: Readonly<Record<string, string>>,
): Response {
  // Not `c.body`: it creates `Headers` if there are several, and node-server writes a plain object
  // faster. This would drop headers set by `c.header`; these routes set none.
  return new Response(body, { status, headers: { ETag: `"${tag}"`, ...headers } })
}
