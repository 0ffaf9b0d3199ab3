import { type Context, Hono } from 'hono'
import { COLLECTION_PARAMETER, isCollectionName } from '../../contract/document.ts'
import { SCHEMA_BYTES } from '../../contract/schema.ts'
import { Failure } from '../../failure.ts'
import { described } from '../../http/describe.ts'
import type { AppEnv } from '../../http/env.ts'
import { audited } from '../../http/guards/audit-change.ts'
import { callerOf, type RequireRole } from '../../http/guards/require-role.ts'
import { pathParam } from '../../http/input/path-param.ts'
import { MINIMAL, prefersMinimal } from '../../http/input/prefer.ts'
import { textBody } from '../../http/input/text-body.ts'
import type { OnTargetRecord, Recorder } from '../../storage/changes/recorder.ts'
import type { CollectionRef } from '../../storage/document-ref.ts'
import { schema } from '../describe-routes.ts'
import { matchesNone } from '../entity-tag.ts'
import { conditionsOf, contentType } from '../routes.ts'
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
  const whereOf = (c: Context<AppEnv>): CollectionRef => {
    const collection = pathParam(c, 'collection')
    if (!isCollectionName(collection)) throw new Failure('not-found', 'There is no such path.')
    return { database: idOf(c.get('database')), collection }
  }
  const targetOf = (c: Context<AppEnv>) => `${c.get('database')}/${c.req.param('collection')}`
  const recordOf = (c: Context<AppEnv>): OnTargetRecord => ({
    record,
    actor: callerOf(c),
    target: targetOf(c),
  })
  return new Hono<AppEnv>()
    .get(PATH, described(schema.get, requireRole('viewer')), async (c) => {
      const type = contentType(c)
      const conditions = conditionsOf(c)
      const found = await schemas.read(whereOf(c), conditions)
      if (!matchesNone(conditions, found.tag)) return c.body(null, 304, { ETag: `"${found.tag}"` })
      return schemaResponse(c, found, type)
    })
    .put(
      PATH,
      audited('schema.set', targetOf),
      described(schema.put, requireRole('operator')),
      async (c) => {
        const type = contentType(c)
        const text = await textBody(c, SCHEMA_BYTES)
        const stored = await schemas.put(whereOf(c), text, conditionsOf(c), recordOf(c))
        return schemaResponse(c, stored, type, stored.created ? 201 : 200)
      },
    )
    .delete(
      PATH,
      audited('schema.delete', targetOf),
      described(schema.delete, requireRole('operator')),
      async (c) => {
        const type = contentType(c)
        const deleted = await schemas.delete(whereOf(c), conditionsOf(c), recordOf(c))
        if (!prefersMinimal(c)) return schemaResponse(c, deleted, type)
        return c.body(null, 204, MINIMAL)
      },
    )
}

const schemaResponse = (
  c: Context<AppEnv>,
  { tag, body }: StoredSchema,
  type: string,
  status: 200 | 201 = 200,
): Response => c.body(body, status, { ETag: `"${tag}"`, 'Content-Type': type })
