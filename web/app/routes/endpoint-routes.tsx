import { createRoute, redirect } from '@tanstack/react-router'
import { readMapSearch } from '../../endpoints/map/map-search.ts'
import { readEndpointsSearch } from '../../endpoints/use-endpoints-location.ts'
import { rootRoute } from '../frame.tsx'
import { lazyPage } from '../lazy-page.tsx'

const endpointsRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/endpoints',
  validateSearch: readEndpointsSearch,
  component: lazyPage(
    async () => (await import('../../endpoints/endpoints-page.tsx')).EndpointsPage,
    { what: 'the endpoints', heading: 'Endpoints' },
  ),
})

const addEndpointRoute = createRoute({
  getParentRoute: () => endpointsRoute,
  path: '/new',
  component: lazyPage(
    async () => (await import('../../endpoints/row-dialogs.tsx')).AddEndpointOutlet,
  ),
})

const mapRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/endpoints/map',
  validateSearch: readMapSearch,
  component: lazyPage(async () => (await import('../../endpoints/map/map-page.tsx')).MapPage, {
    what: 'the map',
  }),
})

const requestsRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/endpoints/requests',
  validateSearch: readMapSearch,
  component: lazyPage(
    async () => (await import('../../endpoints/requests-page.tsx')).RequestsPage,
    { what: 'the requests' },
  ),
})

const importRoute = createRoute({
  getParentRoute: () => endpointsRoute,
  path: '/import',
  component: lazyPage(
    async () =>
      (await import('../../endpoints/import/import-endpoints-dialog.tsx')).ImportEndpointsDialog,
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

/** Pages and dialogs of endpoints. */
export const endpointRoutes = [
  endpointsRoute.addChildren([addEndpointRoute, importRoute]),
  mapRoute,
  requestsRoute,
  ...shortRoutes,
] as const
