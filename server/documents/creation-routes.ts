import { type Context, Hono } from 'hono'
import { BULK_BYTES, COLLECTION_PARAMETER } from '../contract/document.ts'
import type { AppEnv } from '../http/env.ts'
import type { RequireRole } from '../http/guards/require-role.ts'
import { createReadAhead, takeIfBodyArrived } from '../http/guards/require-role.ts'
import { callerIdOf } from '../http/guards/work-caller.ts'
import { requireJsonType } from '../http/input/body/json-body.ts'
import { bodyChunks, isCompressed, readBody } from '../http/input/body/request-body.ts'
import { conditionsOf, requireNoConditions } from '../http/input/headers.ts'
import { prefersAsync } from '../http/input/prefer.ts'
import { createCollectionParam, searchParameters } from '../http/input/url.ts'
import { described } from '../http/openapi/describe.ts'
import { jsonHeaders } from '../http/output/content-negotiation.ts'
import { requestedPath } from '../http/output/next-link.ts'
import { arrayResponse } from './array-response.ts'
import { acceptedResponse } from './collections/whole-collection-routes.ts'
import { collection } from './describe-routes.ts'
import { documentResponse } from './document-response.ts'
import type { Documents } from './documents.ts'
import { importHandler, parseOnConflict } from './import/import-routes.ts'
import type { Importer } from './import/importer.ts'
import type { BeginImport } from './import/stored-part.ts'
import { type CreateBody, createBodyOf, readCreateBody } from './json/create-body.ts'
import type { CurrentSchemaOf } from './schemas/schemas.ts'

export interface CreationRoutesDeps {
  readonly documents: Documents
  readonly importer: Pick<Importer, 'run'>
  readonly beginImport: BeginImport
  readonly requireRole: RequireRole
  readonly currentSchema: CurrentSchemaOf
  /** Returns the id of an existing database. */
  readonly idOf: (database: string) => string
}

const PATH = `/${COLLECTION_PARAMETER}` as const

/** Returns the route that creates documents in a collection, or imports them. */
export function creationRoutes({
  documents,
  importer,
  beginImport,
  requireRole,
  currentSchema,
  idOf,
}: CreationRoutesDeps) {
  const collectionOf = createCollectionParam(idOf)
  const schemaAhead = createReadAhead((c) => currentSchema(collectionOf(c)))
  const operatorCreates = requireRole('operator', { readAhead: schemaAhead.begin })
  const imports = importHandler({ importer, beginImport, collectionOf })
  return new Hono<AppEnv>().post(
    PATH,
    described(collection.post, operatorCreates),
    imports,
    async (c) => {
      const json = jsonHeaders(c)
      const schema = takeIfBodyArrived(c, schemaAhead)
      const where = collectionOf(c)
      const onConflict = parseOnConflict(searchParameters(c))
      requireNoConditions(conditionsOf(c), NEW_DOCUMENTS)
      const body = await readDocuments(c)
      if ('parts' in body) {
        const stored = await documents.createMany(where, body.parts, {
          onConflict,
          respondAsync: prefersAsync(c),
          beginImport: (parts) => beginImport(where, { onConflict }, parts, callerIdOf(c)),
        })
        if ('job' in stored) return acceptedResponse(c, { id: stored.job })
        return arrayResponse(stored, json)
      }
      const { isNew, document: created } =
        onConflict === 'fail'
          ? { isNew: true, document: await documents.create(where, body.text, schema) }
          : await documents.upsert(where, body.text, onConflict, {
              schema,
              signal: () => c.req.raw.signal,
            })
      if (!isNew) return documentResponse(created, 200, json)
      const Location = `${requestedPath(c)}/${encodeURIComponent(created.id)}`
      return documentResponse(created, 201, { ...json, Location })
    },
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
