import { Hono } from 'hono'
import { collectionList, collectionQuery, sizeList } from '../contract/document.ts'
import { Failure } from '../failure.ts'
import { describe } from '../http/describe.ts'
import type { AppEnv } from '../http/env.ts'
import { queryInput } from '../http/query-input.ts'
import type { SendList } from '../http/send-list.ts'
import type { DocumentRoutesDeps } from './routes.ts'
import type { DatabaseSize, Sizes } from './sizes.ts'

/** What the routes of collections are made of. */
export interface CollectionRoutesDeps extends Omit<DocumentRoutesDeps, 'whole' | 'reserve'> {
  readonly sendList: SendList
  /** Whether a database exists. */
  readonly exists: (database: string) => boolean
  readonly sizes: Sizes
}

/** What the route of sizes is made of. */
export interface SizeRoutesDeps
  extends Pick<CollectionRoutesDeps, 'sizes' | 'permit' | 'idOf' | 'sendList'> {
  /** The names of all databases. */
  readonly list: () => string[]
}

/** `/_api/collection`: which collections a database has, and how much they held some seconds ago. */
export const collectionRoutes = ({
  documents,
  permit,
  idOf,
  exists,
  sizes,
  sendList,
}: CollectionRoutesDeps) =>
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
      const id = idOf(database)
      const [collections, sized] = await Promise.all([documents.collections(id), sizes.of([id])])
      const size = sized.get(id)
      const measured = timeOf(size)
      const known = new Map(size?.collections.map((each) => [each.name, each]))
      return sendList(
        c,
        collections.values().map((name) => {
          const found = known.get(name)
          const { documents = null, bytes = null } = found ?? {}
          // Of one that has begun since the others were counted, nothing is known.
          return { name, documents, bytes, measured: found === undefined ? null : measured }
        }),
      )
    },
  )

/**
 * `/_api/size`: how much each database holds. It is administration as their names are, so the
 * endpoint's mapping does not matter; the scope of a token does.
 */
export const sizeRoutes = ({ sizes, permit, idOf, list, sendList }: SizeRoutesDeps) =>
  new Hono<AppEnv>().get(
    '/',
    describe({ summary: 'Tell how much the databases hold', answers: { 200: sizeList } }),
    permit('viewer'),
    async (c) => {
      const scope = c.get('principal')?.databases ?? null
      const named = list()
        .filter((name) => scope?.includes(name) ?? true)
        .map((name) => [name, idOf(name)] as const)
      const sized = await sizes.of(named.map(([, id]) => id))
      return sendList(
        c,
        named.values().map(([database, id]) => {
          const size = sized.get(id)
          return {
            database,
            collections: size?.collections.length ?? null,
            documents: sum(size, 'documents'),
            bytes: sum(size, 'bytes'),
            measured: timeOf(size),
          }
        }),
      )
    },
  )

const timeOf = (size: DatabaseSize | undefined) =>
  size === undefined ? null : new Date(size.measured).toISOString()

const sum = (size: DatabaseSize | undefined, of: 'documents' | 'bytes') =>
  size?.collections.reduce((total, each) => total + each[of], 0) ?? null
