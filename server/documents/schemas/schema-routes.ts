import { type Context, Hono } from 'hono'
import { isCollectionName } from '../contract/document.ts'
import { SCHEMA_BYTES } from '../contract/schema.ts'
import { Failure } from '../failure.ts'
import type { AppEnv } from '../http/env.ts'
import type { Permit } from '../http/permit.ts'
import { MINIMAL, prefersMinimal } from '../http/prefer.ts'
import { textBody } from '../http/text-body.ts'
import type { Collection } from './documents.ts'
import { matchesNone, readConditions } from './entity-tag.ts'
import { contentType } from './routes.ts'
import type { StoredSchema } from './schema-repository.ts'
import type { Schemas } from './schemas.ts'

/** What the routes of schemas are made of. */
export interface SchemaRoutesDeps {
  readonly schemas: Schemas
  readonly permit: Permit
  /** The id of a database that exists. */
  readonly idOf: (database: string) => string
}

const PATH = '/:collection{[a-z][a-z0-9_-]*}'

/** `/_schema/<collection>`: the JSON Schema of a collection, in every database. */
export function schemaRoutes({ schemas, permit, idOf }: SchemaRoutesDeps) {
  const whereOf = (c: Context<AppEnv>): Collection => {
    const collection = c.req.param('collection') ?? ''
    if (!isCollectionName(collection)) throw new Failure('not-found', 'There is no such path.')
    return { database: idOf(c.get('database')), collection }
  }
  const conditionsOf = (c: Context<AppEnv>) =>
    readConditions(c.req.header('If-Match'), c.req.header('If-None-Match'))

  return new Hono<AppEnv>()
    .get(PATH, permit('viewer'), async (c) => {
      const type = contentType(c)
      const conditions = conditionsOf(c)
      const found = await schemas.read(whereOf(c), conditions)
      if (!matchesNone(conditions, found.tag)) return c.body(null, 304, { ETag: `"${found.tag}"` })
      return answer(c, found, type)
    })
    .put(PATH, permit('operator'), async (c) => {
      const type = contentType(c)
      const text = await textBody(c, SCHEMA_BYTES)
      return answer(c, await schemas.put(whereOf(c), text, conditionsOf(c)), type)
    })
    .delete(PATH, permit('operator'), async (c) => {
      const type = contentType(c)
      const deleted = await schemas.delete(whereOf(c), conditionsOf(c))
      if (!prefersMinimal(c)) return answer(c, deleted, type)
      return c.body(null, 204, MINIMAL)
    })
}

const answer = (c: Context<AppEnv>, { tag, body }: StoredSchema, type: string): Response =>
  c.body(body, 200, { ETag: `"${tag}"`, 'Content-Type': type })
