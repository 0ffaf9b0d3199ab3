import { type Context, Hono } from 'hono'
import { matchesNone } from '../../contract/conditions.ts'
import { COLLECTION_PARAMETER } from '../../contract/document.ts'
import { SCHEMA_BYTES } from '../../contract/schema.ts'
import type { AppEnv } from '../../http/env.ts'
import { audited } from '../../http/guards/audit-change.ts'
import { callerOf, type RequireRole } from '../../http/guards/require-role.ts'
import { textBody } from '../../http/input/body/json-body.ts'
import { conditionsOf } from '../../http/input/headers.ts'
import { MINIMAL, prefersMinimal } from '../../http/input/prefer.ts'
import { createCollectionParam, requireNoParameters } from '../../http/input/url.ts'
import { described } from '../../http/openapi/describe.ts'
import { jsonHeaders, VARY_ACCEPT } from '../../http/output/content-negotiation.ts'
import type { OnTargetRecord, Recorder } from '../../storage/changes/recorder.ts'
import { schema } from '../describe-routes.ts'
import type { StoredSchema } from './schema-repository.ts'
import type { Schemas } from './schemas.ts'

export interface SchemaRoutesDeps {
  readonly schemas: Schemas
  readonly record: Recorder
  readonly requireRole: RequireRole
  /** Returns the id of an existing database. */
  readonly idOf: (database: string) => string
}

const PATH = `/${COLLECTION_PARAMETER}` as const

/**
 * Returns the routes of `/_schema/<collection>`, the JSON Schema of a collection, in every
 * database.
 */
export function schemaRoutes({ schemas, record, requireRole, idOf }: SchemaRoutesDeps) {
  const parseCollection = createCollectionParam(idOf)
  const collectionOf = (c: Context<AppEnv>) => {
    requireNoParameters(c, 'A request for a schema')
    return parseCollection(c)
  }
  const targetOf = (c: Context<AppEnv>) => `${c.get('database')}/${c.req.param('collection')}`
  const recordOf = (c: Context<AppEnv>): OnTargetRecord => ({
    record,
    actor: callerOf(c),
    target: targetOf(c),
  })
  return new Hono<AppEnv>()
    .get(PATH, described(schema.get, requireRole('viewer')), async (c) => {
      const json = jsonHeaders(c)
      const conditions = conditionsOf(c)
      const found = await schemas.read(collectionOf(c), conditions)
      if (!matchesNone(conditions, found.tag)) {
        return c.body(null, 304, { ETag: `"${found.tag}"`, ...VARY_ACCEPT })
      }
      return schemaResponse(c, found, json)
    })
    .put(
      PATH,
      audited('schema.set', targetOf),
      described(schema.put, requireRole('editor')),
      async (c) => {
        const json = jsonHeaders(c)
        const text = await textBody(c, SCHEMA_BYTES)
        const stored = await schemas.put(collectionOf(c), text, conditionsOf(c), recordOf(c))
        return schemaResponse(c, stored, json, stored.created ? 201 : 200)
      },
    )
    .delete(
      PATH,
      audited('schema.delete', targetOf),
      described(schema.delete, requireRole('editor')),
      async (c) => {
        const json = jsonHeaders(c)
        const deleted = await schemas.delete(collectionOf(c), conditionsOf(c), recordOf(c))
        if (!prefersMinimal(c)) return schemaResponse(c, deleted, json)
        return c.body(null, 204, MINIMAL)
      },
    )
}

const schemaResponse = (
  c: Context<AppEnv>,
  { tag, body }: StoredSchema,
  headers: Readonly<Record<string, string>>,
  status: 200 | 201 = 200,
): Response => c.body(body, status, { ETag: `"${tag}"`, ...headers })
