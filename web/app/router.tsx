import { createRootRoute, createRoute, createRouter, redirect } from '@tanstack/react-router'
import { readPeopleSearch, readTokensSearch } from '../access/use-access-location.ts'
import { readActivitySearch } from '../audit/activity-search.ts'
import { readDatabasesSearch } from '../databases/databases-search.ts'
import { readDocumentsSearch } from '../documents/documents-search.ts'
import { readIndexesSearch } from '../documents/indexes/use-indexes-location.ts'
import { EndpointsPage } from '../endpoints/endpoints-page.tsx'
import { AddEndpointOutlet } from '../endpoints/form/row-dialogs.tsx'
import { readMapSearch } from '../endpoints/map/map-search.ts'
import { readEndpointsSearch } from '../endpoints/use-endpoints-location.ts'
import { LazyFailure } from '../shared/ui/feedback/lazy-failure.tsx'
import { Frame, NoSuchPage } from './frame.tsx'
import { lazyPage } from './lazy-page.tsx'

const rootRoute = createRootRoute({ component: Frame, notFoundComponent: NoSuchPage })

const indexRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/',
  beforeLoad: () => {
    throw redirect({ to: '/endpoints' })
  },
})

const endpointsRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/endpoints',
  validateSearch: readEndpointsSearch,
  component: EndpointsPage,
})

const addEndpointRoute = createRoute({
  getParentRoute: () => endpointsRoute,
  path: '/new',
  component: AddEndpointOutlet,
})

const mapRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/endpoints/map',
  validateSearch: readMapSearch,
  component: lazyPage(async () => (await import('../endpoints/map/map-page.tsx')).MapPage, {
    what: 'the map',
  }),
})

const importRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/endpoints/import',
  component: lazyPage(
    async () => (await import('../endpoints/import/import-page.tsx')).ImportPage,
    {
      what: 'the page',
    },
  ),
})

/** Short paths for typing. */
const shortRoutes = (['map', 'import'] as const).map((name) =>
  createRoute({
    getParentRoute: () => rootRoute,
    path: `/${name}`,
    beforeLoad: () => {
      throw redirect({ to: `/endpoints/${name}`, replace: true })
    },
  }),
)

const accessRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/access',
  component: lazyPage(async () => (await import('../access/access-page.tsx')).AccessPage, {
    what: 'the page',
    heading: 'Access',
  }),
})

const accessIndexRoute = createRoute({
  getParentRoute: () => accessRoute,
  path: '/',
  beforeLoad: () => {
    throw redirect({ to: '/access/people' })
  },
})

const peopleRoute = createRoute({
  getParentRoute: () => accessRoute,
  path: '/people',
  validateSearch: readPeopleSearch,
  component: lazyPage(async () => (await import('../access/people/people-page.tsx')).PeoplePage, {
    what: 'the people',
  }),
})

const tokensRoute = createRoute({
  getParentRoute: () => accessRoute,
  path: '/tokens',
  validateSearch: readTokensSearch,
  component: lazyPage(async () => (await import('../access/tokens/tokens-page.tsx')).TokensPage, {
    what: 'the tokens',
  }),
})

const loadCreateToken = async () =>
  (await import('../access/tokens/create-token-dialog.tsx')).CreateTokenDialog

const newTokenRoute = createRoute({
  getParentRoute: () => tokensRoute,
  path: '/new',
  component: lazyPage(loadCreateToken, { props: { path: '/access/tokens' } }),
})

const providersRoute = createRoute({
  getParentRoute: () => accessRoute,
  path: '/providers',
  component: lazyPage(async () => (await import('../access/providers-page.tsx')).ProvidersPage, {
    what: 'the providers',
  }),
})

const meRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/me',
  validateSearch: readTokensSearch,
  component: lazyPage(async () => (await import('../access/me-page.tsx')).MePage, {
    what: 'your page',
    heading: 'Your page',
  }),
})

const myNewTokenRoute = createRoute({
  getParentRoute: () => meRoute,
  path: '/new-token',
  component: lazyPage(loadCreateToken, { props: { path: '/me' } }),
})

const activityRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/activity',
  validateSearch: readActivitySearch,
  component: lazyPage(async () => (await import('../audit/activity-page.tsx')).ActivityPage, {
    what: 'the activity',
    heading: 'Activity',
  }),
})

const restoreRoute = createRoute({
  getParentRoute: () => activityRoute,
  path: '/restore',
  validateSearch: (search: Record<string, unknown>) => ({
    row: typeof search.row === 'string' && /^[0-9]{1,15}$/.test(search.row) ? search.row : '0',
  }),
  component: lazyPage(
    async () => (await import('../endpoints/restore/restore-dialog.tsx')).RestoreDialog,
    {
      props: { path: '/activity' },
    },
  ),
})

const databasesRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/databases',
  validateSearch: readDatabasesSearch,
  component: lazyPage(async () => (await import('../databases/databases-page.tsx')).DatabasesPage, {
    what: 'the databases',
    heading: 'Databases',
  }),
})

const createDatabaseRoute = createRoute({
  getParentRoute: () => databasesRoute,
  path: '/new',
  component: lazyPage(
    async () =>
      (await import('../databases/create/create-database-dialog.tsx')).CreateDatabaseDialog,
  ),
})

const documentsPage = lazyPage(
  async () => (await import('../documents/documents-page.tsx')).DocumentsPage,
  {
    what: 'the page',
    heading: 'Documents',
  },
)

const documentsRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/documents',
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
  component: lazyPage(async () => (await import('../documents/schema-page.tsx')).SchemaPage, {
    what: 'the schema',
  }),
})

const indexesRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/documents/$database/$collection/indexes',
  validateSearch: readIndexesSearch,
  component: lazyPage(
    async () => (await import('../documents/indexes/indexes-page.tsx')).IndexesPage,
    { what: 'the indexes' },
  ),
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

/** All pages and dialogs of the console, below `/_console`. */
export const router = createRouter({
  basepath: '/_console',
  defaultErrorComponent: () => <LazyFailure />,
  routeTree: rootRoute.addChildren([
    indexRoute,
    endpointsRoute.addChildren([addEndpointRoute]),
    mapRoute,
    importRoute,
    ...shortRoutes,
    accessRoute.addChildren([
      accessIndexRoute,
      peopleRoute,
      tokensRoute.addChildren([newTokenRoute]),
      providersRoute,
    ]),
    meRoute.addChildren([myNewTokenRoute]),
    activityRoute.addChildren([restoreRoute]),
    databasesRoute.addChildren([createDatabaseRoute]),
    documentsRoute,
    databaseDocumentsRoute,
    collectionDocumentsRoute,
    schemaRoute,
    indexesRoute,
    documentRoute,
  ]),
  // Values are plain text, so that the URL reads `?q=8530` and not `?q="8530"`.
  parseSearch: (text) => Object.fromEntries(new URLSearchParams(text)),
  stringifySearch: (search) => {
    const text = new URLSearchParams(
      Object.entries(search).flatMap(([key, value]) =>
        value === undefined ? [] : [[key, `${value}`]],
      ),
    ).toString()
    return text === '' ? '' : `?${text}`
  },
  scrollRestoration: true,
})

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router
  }
}
