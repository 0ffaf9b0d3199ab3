import { Hono } from 'hono'
import { collectionList, collectionQuery } from '../contract/document.ts'
import { Failure } from '../failure.ts'
import { describe } from '../http/describe.ts'
import type { AppEnv } from '../http/env.ts'
import { queryInput } from '../http/query-input.ts'
import type { DocumentRoutesDeps } from './routes.ts'

/** What the routes of collections are made of. */
export interface CollectionRoutesDeps extends Omit<DocumentRoutesDeps, 'whole'> {
  /** Whether a database exists. */
  readonly exists: (database: string) => boolean
}

/** `/_api/collection`: which collections a database has. */
export const collectionRoutes = ({ documents, permit, idOf, exists }: CollectionRoutesDeps) =>
  new Hono<AppEnv>().get(
    '/',
    describe({
      summary: 'List the collections of a database',
      query: collectionQuery,
      answers: { 200: collectionList },
      failures: {
        400: 'database is missing',
        403: 'the token is not for that database',
        404: 'there is no such database, or the endpoint does not reach it',
      },
    }),
    permit('viewer'),
    queryInput(collectionQuery),
    async (c) => {
      const { database } = c.req.valid('query')
      // The names of collections are data: they are reached as the documents themselves are, by
      // the endpoint's mapping and the token's scope.
      const { names } = c.env.via.mapping
      if ((names.length > 0 && !names.includes(database)) || !exists(database)) {
        throw new Failure('database-not-found', 'database not found')
      }
      const scope = c.get('principal')?.databases ?? null
      if (scope !== null && !scope.includes(database)) {
        throw new Failure('forbidden', 'The token is not for this database.')
      }
      const collections = await documents.collections(idOf(database))
      return c.json(
        collections.map((name) => ({ name })),
        200,
      )
    },
  )
