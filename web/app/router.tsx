import {
  IconDatabase,
  IconFileText,
  IconHistory,
  IconPlugConnected,
  IconUsers,
} from '@tabler/icons-react'
import {
  createRootRoute,
  createRoute,
  createRouter,
  Link,
  Outlet,
  redirect,
} from '@tanstack/react-router'
import { type ComponentType, lazy, Suspense } from 'react'
import { atLeast, type Role } from '../server/contract/role.ts'
import { readPeopleSearch, readTokensSearch } from './access/use-access-location.ts'
import { readActivitySearch } from './audit/activity-search.ts'
import { readDatabasesSearch } from './databases/databases-search.ts'
import { readDocumentsSearch } from './documents/documents-search.ts'
import { EndpointsPage } from './endpoints/endpoints-page.tsx'
import { readMapSearch } from './endpoints/map/map-search.ts'
import { AddEndpoint } from './endpoints/row-dialogs.tsx'
import { UndoPlace } from './endpoints/undo-place.tsx'
import { readEndpointsSearch } from './endpoints/use-endpoints-location.ts'
import { GlobalKeys } from './keys/global-keys.tsx'
import { ConnectionBanner } from './live/connection-banner.tsx'
import { ConnectionStatus } from './live/connection-status.tsx'
import { useConnection } from './live/live-provider.tsx'
import { NodeStatus } from './nodes/node-status.tsx'
import { usePresence } from './person.ts'
import { GlobalSearch } from './search/global-search.tsx'
import { SearchButton } from './search/search-button.tsx'
import { PersonMenu } from './session/person-menu.tsx'
import { SessionBanner } from './session/session-banner.tsx'
import { Notice } from './ui/notice.tsx'
import { PageHead } from './ui/page-head.tsx'
import { PartBoundary } from './ui/part-boundary.tsx'
import { navItemClass, Shell } from './ui/shell.tsx'
import { SkeletonRows } from './ui/skeleton-rows.tsx'
import { usePageTitle } from './ui/use-page-title.ts'

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
  component: AddEndpoint,
})

/** A page whose code is loaded when it is gone to; a dialog shows nothing meanwhile. */
function later<P extends object>(
  load: () => Promise<ComponentType<P>>,
  props: P,
  what?: string,
  heading?: string,
) {
  const Part = lazy(async () => ({ default: await load() }))
  return () => (
    <PartBoundary heading={heading}>
      <Suspense
        fallback={
          what !== undefined && (
            <>
              {heading !== undefined && <PageHead title={heading} />}
              <SkeletonRows what={what} />
            </>
          )
        }
      >
        <Part {...props} />
      </Suspense>
    </PartBoundary>
  )
}

const mapRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/endpoints/map',
  validateSearch: readMapSearch,
  component: later(
    async () => (await import('./endpoints/map/map-page.tsx')).MapPage,
    {},
    'the map',
  ),
})

const importRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/endpoints/import',
  component: later(
    async () => (await import('./endpoints/import/import-page.tsx')).ImportPage,
    {},
    'the page',
  ),
})

/** Short forms of the two, for whoever types. */
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
  component: later(
    async () => (await import('./access/access-page.tsx')).AccessPage,
    {},
    'the page',
    'Access',
  ),
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
  component: later(
    async () => (await import('./access/people-page.tsx')).PeoplePage,
    {},
    'the people',
  ),
})

const tokensRoute = createRoute({
  getParentRoute: () => accessRoute,
  path: '/tokens',
  validateSearch: readTokensSearch,
  component: later(
    async () => (await import('./access/tokens-page.tsx')).TokensPage,
    {},
    'the tokens',
  ),
})

const loadNewToken = async () => (await import('./access/new-token-dialog.tsx')).NewTokenDialog

const newTokenRoute = createRoute({
  getParentRoute: () => tokensRoute,
  path: '/new',
  component: later(loadNewToken, { path: '/access/tokens' }),
})

const providersRoute = createRoute({
  getParentRoute: () => accessRoute,
  path: '/providers',
  component: later(
    async () => (await import('./access/providers-page.tsx')).ProvidersPage,
    {},
    'the providers',
  ),
})

const meRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/me',
  validateSearch: readTokensSearch,
  component: later(
    async () => (await import('./access/me-page.tsx')).MePage,
    {},
    'your page',
    'Your page',
  ),
})

const myNewTokenRoute = createRoute({
  getParentRoute: () => meRoute,
  path: '/new-token',
  component: later(loadNewToken, { path: '/me' }),
})

const activityRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/activity',
  validateSearch: readActivitySearch,
  component: later(
    async () => (await import('./audit/activity-page.tsx')).ActivityPage,
    {},
    'the activity',
    'Activity',
  ),
})

const databasesRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/databases',
  validateSearch: readDatabasesSearch,
  component: later(
    async () => (await import('./databases/databases-page.tsx')).DatabasesPage,
    {},
    'the databases',
    'Databases',
  ),
})

const createDatabaseRoute = createRoute({
  getParentRoute: () => databasesRoute,
  path: '/new',
  component: later(
    async () => (await import('./databases/create-database-dialog.tsx')).CreateDatabaseDialog,
    {},
  ),
})

const documentsPage = later(
  async () => (await import('./documents/documents-page.tsx')).DocumentsPage,
  {},
  'the page',
  'Documents',
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
  component: later(
    async () => (await import('./documents/schema-page.tsx')).SchemaPage,
    {},
    'the schema',
  ),
})

// Ids are any text, also one that proxies and browsers rewrite in a path: they stand in the query.
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

/** Every page and dialog of the console, by its path below `/_console`. */
export const router = createRouter({
  basepath: '/_console',
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
    activityRoute,
    databasesRoute.addChildren([createDatabaseRoute]),
    documentsRoute,
    databaseDocumentsRoute,
    collectionDocumentsRoute,
    schemaRoute,
    documentRoute,
  ]),
  // Values are text and nothing else, so that a URL reads as it was typed: ?q=8530, not ?q="8530".
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

/** The pages that the sidebar leads to, and whom; each comes with its feature. */
const pages = [
  { to: '/endpoints', label: 'Endpoints', Icon: IconPlugConnected, needs: 'viewer' },
  { to: '/databases', label: 'Databases', Icon: IconDatabase, needs: 'viewer' },
  { to: '/documents', label: 'Documents', Icon: IconFileText, needs: 'viewer' },
  { to: '/access', label: 'Access', Icon: IconUsers, needs: 'admin' },
  { to: '/activity', label: 'Activity', Icon: IconHistory, needs: 'viewer' },
] as const satisfies readonly { needs: Role; [more: string]: unknown }[]

function Frame() {
  const lost = useConnection().state === 'lost'
  const { person, end } = usePresence()
  const offered = pages.filter(({ needs }) => atLeast(person.role, needs))
  return (
    <Shell
      nav={offered.map(({ to, label, Icon }) => (
        <Link key={to} to={to} className={navItemClass}>
          <Icon size={16} stroke={1.5} aria-hidden="true" />
          {label}
        </Link>
      ))}
      search={<SearchButton />}
      status={
        <>
          <ConnectionStatus />
          <NodeStatus />
        </>
      }
      person={<PersonMenu />}
      banner={
        <>
          <SessionBanner />
          <ConnectionBanner />
        </>
      }
      stale={lost || end !== undefined}
    >
      <GlobalKeys />
      <GlobalSearch />
      <Outlet />
      <PartBoundary>
        <UndoPlace />
      </PartBoundary>
    </Shell>
  )
}

function NoSuchPage() {
  usePageTitle('No such page')
  return (
    <>
      <h1>There is no such page</h1>
      <Notice action={<Link to="/endpoints">Go to Endpoints</Link>}>
        The address may be mistyped, or come from another version of the console.
      </Notice>
    </>
  )
}
