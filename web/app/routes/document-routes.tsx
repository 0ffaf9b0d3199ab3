import { createRoute, redirect } from '@tanstack/react-router'
import { readDocumentsSearch } from '../../data/documents-search.ts'
import { readIndexesSearch } from '../../data/indexes/use-indexes-location.ts'
import { rootRoute } from '../frame.tsx'
import { lazyPage } from '../lazy-page.tsx'

const documentsPage = lazyPage(
  async () => (await import('../../data/documents-page.tsx')).DocumentsPage,
  {
    what: 'the page',
    heading: 'Documents',
  },
)

const documentsRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/documents',
  validateSearch: readDocumentsSearch,
  component: documentsPage,
})

const databaseDocumentsRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/documents/$database',
  validateSearch: readDocumentsSearch,
  component: documentsPage,
})

const collectionDocumentsRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/documents/$database/$collection',
  validateSearch: readDocumentsSearch,
  component: documentsPage,
})

const schemaRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/documents/$database/$collection/schema',
  component: lazyPage(async () => (await import('../../data/schema-page.tsx')).SchemaPage, {
    what: 'the schema',
    heading: 'Documents',
  }),
})

const indexesRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/documents/$database/$collection/indexes',
  validateSearch: readIndexesSearch,
  component: lazyPage(
    async () => (await import('../../data/indexes/indexes-page.tsx')).IndexesPage,
    { what: 'the indexes', heading: 'Documents' },
  ),
})

const followRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/documents/$database/$collection/follow',
  component: lazyPage(async () => (await import('../../data/follow/follow-page.tsx')).FollowPage, {
    what: 'the feed',
    heading: 'Documents',
  }),
})

// Proxies and browsers rewrite some ids in a path, so the id moves to the query.
const documentRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/documents/$database/$collection/$id',
  beforeLoad: ({ params: { database, collection, id } }) => {
    throw redirect({
      to: '/documents/$database/$collection',
      params: { database, collection },
      search: { open: id },
    })
  },
})

/** Pages and dialogs of documents, schemas, indexes and feeds. */
export const documentRoutes = [
  documentsRoute,
  databaseDocumentsRoute,
  collectionDocumentsRoute,
  schemaRoute,
  indexesRoute,
  followRoute,
  documentRoute,
] as const
