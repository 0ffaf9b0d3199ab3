import { createRoute, redirect } from '@tanstack/react-router'
import { readDataSearch } from '../../data/data-search.ts'
import { rootRoute } from '../frame.tsx'
import { lazyPage } from '../lazy-page.tsx'

const dataRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/data',
  validateSearch: readDataSearch,
  component: lazyPage(async () => (await import('../../data/data-page.tsx')).DataPage, {
    what: 'the databases',
    heading: 'Data',
  }),
})

const listRoute = createRoute({
  getParentRoute: () => dataRoute,
  path: '/',
  component: lazyPage(
    async () => (await import('../../data/databases/database-list.tsx')).DatabaseList,
    { what: 'the databases' },
  ),
})

const databaseRoute = createRoute({
  getParentRoute: () => dataRoute,
  path: '/$database',
  component: lazyPage(
    async () => (await import('../../data/databases/database-page.tsx')).DatabasePage,
    { what: 'the database' },
  ),
})

const collectionRoute = createRoute({
  getParentRoute: () => dataRoute,
  path: '/$database/$collection',
  component: lazyPage(async () => (await import('../../data/collection-page.tsx')).CollectionPage, {
    what: 'the documents',
  }),
})

const schemaRoute = createRoute({
  getParentRoute: () => dataRoute,
  path: '/$database/$collection/schema',
  component: lazyPage(async () => (await import('../../data/schema-page.tsx')).SchemaPage, {
    what: 'the schema',
  }),
})

const indexesRoute = createRoute({
  getParentRoute: () => dataRoute,
  path: '/$database/$collection/indexes',
  component: lazyPage(
    async () => (await import('../../data/indexes/indexes-page.tsx')).IndexesPage,
    { what: 'the indexes' },
  ),
})

const followRoute = createRoute({
  getParentRoute: () => dataRoute,
  path: '/$database/$collection/follow',
  component: lazyPage(async () => (await import('../../data/follow/follow-page.tsx')).FollowPage, {
    what: 'the feed',
  }),
})

// Proxies and browsers rewrite some ids in a path, so the id moves to the query.
const documentRoute = createRoute({
  getParentRoute: () => dataRoute,
  path: '/$database/$collection/$id',
  beforeLoad: ({ params: { database, collection, id } }) => {
    throw redirect({
      to: '/data/$database/$collection',
      params: { database, collection },
      search: { open: id },
    })
  },
})

/** Paths of earlier versions. */
const formerRoutes = [
  createRoute({
    getParentRoute: () => rootRoute,
    path: '/documents/$',
    validateSearch: readDataSearch,
    beforeLoad: ({ params: { _splat = '' }, search }) => {
      throw redirect({ to: `/data/${_splat}` as '/data', search, replace: true })
    },
  }),
  createRoute({
    getParentRoute: () => rootRoute,
    path: '/databases/$',
    validateSearch: (search: Record<string, unknown>) => ({
      database: `${search.open ?? search.drop ?? ''}`,
      isDrop: search.drop !== undefined,
    }),
    beforeLoad: ({ params: { _splat = '' }, search: { database, isDrop } }) => {
      const dialog = isDrop ? 'drop' : { new: 'create', import: 'import' }[_splat]
      throw redirect({
        to: `/data/${database}` as '/data',
        search: readDataSearch({ dialog }),
        replace: true,
      })
    },
  }),
] as const

/** The pages of databases and collections. */
export const dataRoutes = [
  dataRoute.addChildren([
    listRoute,
    databaseRoute,
    collectionRoute,
    schemaRoute,
    indexesRoute,
    followRoute,
    documentRoute,
  ]),
  ...formerRoutes,
] as const
