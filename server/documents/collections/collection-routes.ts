import { Hono } from 'hono'
import { inScope } from '../../contract/access/scope.ts'
import { collectionList, collectionQuery, sizeList } from '../../contract/document.ts'
import { toIsoTime } from '../../contract/iso-time.ts'
import type { AppEnv } from '../../http/env.ts'
import { requireScope } from '../../http/guards/require-role.ts'
import { requireReachable } from '../../http/guards/select-database.ts'
import { queryInput } from '../../http/input/query-input.ts'
import { describe } from '../../http/openapi/describe.ts'
import type { SendList } from '../../http/output/send-list.ts'
import type { DocumentRoutesDeps } from '../document-routes.ts'
import type { DatabaseSize, Sizes } from './sizes.ts'

export interface CollectionRoutesDeps
  extends Pick<DocumentRoutesDeps, 'documents' | 'requireRole' | 'idOf'> {
  readonly sendList: SendList
  /** Returns whether a database exists. */
  readonly exists: (database: string) => boolean
  readonly sizes: Sizes
}

export interface SizeRoutesDeps
  extends Pick<CollectionRoutesDeps, 'sizes' | 'requireRole' | 'idOf' | 'sendList'> {
  /** Returns the names of all databases. */
  readonly list: () => string[]
}

/** Returns the routes of `/_api/collection`: the collections of a database, with recent sizes. */
export const collectionRoutes = ({
  documents,
  requireRole,
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
      responses: { 200: collectionList },
      failures: {
        400: 'the parameter database is missing',
        403: 'the scope of the token does not include the database',
        404: 'there is no such database, or the endpoint does not serve it',
      },
    }),
    requireRole('viewer'),
    queryInput(collectionQuery),
    async (c) => {
      const { database } = c.req.valid('query')
      // Collection names are data: the endpoint's mapping and the token's scope apply to them as
      // they do to documents.
      requireReachable(c.env.listener.mapping, database, exists)
      requireScope(c.get('principal'), database)
      const id = idOf(database)
      const [collections, sized] = await Promise.all([documents.collections(id), sizes.of([id])])
      const size = sized.get(id)
      const measured = toIsoTime(size?.measured ?? null)
      const sizeByName = new Map(size?.collections.map((each) => [each.name, each]))
      return sendList(
        c,
        collections.values().map((name) => {
          const found = sizeByName.get(name)
          const { documents = null, bytes = null } = found ?? {}
          // The size of a collection created since the last count is unknown.
          return { name, documents, bytes, measured: found === undefined ? null : measured }
        }),
      )
    },
  )

/**
 * Returns the routes of `/_api/size`: the size of each database. Like the names of databases, sizes
 * belong to the administration, so the endpoint's mapping does not apply. The caller's scope does.
 */
export const sizeRoutes = ({ sizes, requireRole, idOf, list, sendList }: SizeRoutesDeps) =>
  new Hono<AppEnv>().get(
    '/',
    describe({ summary: 'Get the sizes of the databases', responses: { 200: sizeList } }),
    requireRole('viewer'),
    async (c) => {
      const scope = c.get('principal')?.databases ?? null
      const named = list()
        .filter((name) => inScope(scope, name))
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
            measured: toIsoTime(size?.measured ?? null),
          }
        }),
      )
    },
  )

const sum = (size: DatabaseSize | undefined, of: 'documents' | 'bytes') =>
  size?.collections.reduce((total, each) => total + each[of], 0) ?? null
