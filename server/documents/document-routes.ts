import { type Context, Hono } from 'hono'
import { matchesNone } from '../contract/conditions.ts'
import { COLLECTION_PARAMETER, DOCUMENT_BYTES } from '../contract/document.ts'
import { Failure } from '../failure.ts'
import type { AppEnv } from '../http/env.ts'
import { createReadAhead, takeIfBodyArrived } from '../http/guards/read-ahead.ts'
import type { RequireRole } from '../http/guards/require-role.ts'
import { textBody } from '../http/input/body/text-body.ts'
import { createCollectionParam } from '../http/input/collection-param.ts'
import { conditionsOf } from '../http/input/conditions.ts'
import { pathParam } from '../http/input/path-param.ts'
import { MINIMAL, prefersMinimal } from '../http/input/prefer.ts'
import { requireNoParameters } from '../http/input/search-parameters.ts'
import { described } from '../http/openapi/describe.ts'
import { jsonHeaders } from '../http/output/json-headers.ts'
import { requestedPath } from '../http/output/next-link.ts'
import { VARY_ACCEPT } from '../http/output/vary.ts'
import type { DocumentRef } from '../storage/document-ref.ts'
import { document } from './describe-routes.ts'
import { documentResponse } from './document-response.ts'
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

/** Returns the routes of `/<collection>/<id>` in every database (docs/http-api.md, "Documents"). */
export function documentRoutes({
  documents,
  requireRole,
  currentSchema,
  idOf,
}: DocumentRoutesDeps) {
  const collectionOf = createCollectionParam(idOf)
  const refOf = (c: Context<AppEnv>): DocumentRef => {
    requireNoParameters(c, 'A request for one document')
    return { ...collectionOf(c), id: pathParam(c, 'id') }
  }
  const documentAhead = createReadAhead((c) => documents.read(refOf(c), conditionsOf(c)))
  const changeAhead = createReadAhead((c): ChangeAhead => {
    const ref = refOf(c)
    const ahead = { stored: documents.stored(ref), schema: currentSchema(ref) }
    for (const reading of Object.values(ahead)) reading.catch(() => {})
    return ahead
  })
  const storedAhead = createReadAhead((c) => documents.stored(refOf(c)))
  const viewerReads = requireRole('viewer', { readAhead: documentAhead.begin })
  const operatorChanges = requireRole('operator', { readAhead: changeAhead.begin })
  const operatorDeletes = requireRole('operator', { readAhead: storedAhead.begin })
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
    .put(PATH, described(document.put, operatorChanges), async (c) => {
      const json = jsonHeaders(c)
      const ahead = takeIfBodyArrived(c, changeAhead)
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
    .patch(PATH, described(document.patch, operatorChanges), async (c) => {
      const json = jsonHeaders(c)
      const ahead = takeIfBodyArrived(c, changeAhead)
      const text = await textBody(c, DOCUMENT_BYTES)
      const options = { ahead, signal: () => c.req.raw.signal }
      const patched = await documents.patch(refOf(c), text, conditionsOf(c), options)
      return documentResponse(patched, 200, json)
    })
    .delete(PATH, described(document.delete, operatorDeletes), async (c) => {
      const json = jsonHeaders(c)
      const stored = storedAhead.take(c)
      const deleted = await documents.delete(refOf(c), conditionsOf(c), stored && { stored })
      if (!prefersMinimal(c)) return documentResponse(deleted, 200, json)
      return c.body(null, 204, MINIMAL)
    })
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
