import { IconPlugConnected } from '@tabler/icons-react'
import {
  createRootRoute,
  createRoute,
  createRouter,
  Link,
  Outlet,
  redirect,
} from '@tanstack/react-router'
import { EndpointsPage } from './endpoints/endpoints-page.tsx'
import { AddEndpoint } from './endpoints/row-dialogs.tsx'
import { readEndpointsSearch } from './endpoints/use-endpoints-location.ts'
import { ConnectionBanner } from './live/connection-banner.tsx'
import { ConnectionStatus } from './live/connection-status.tsx'
import { useConnection } from './live/live-provider.tsx'
import { Notice } from './ui/notice.tsx'
import { navItemClass, Shell } from './ui/shell.tsx'
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

/** Every page and dialog of the console, by its path below `/_console`. */
export const router = createRouter({
  basepath: '/_console',
  routeTree: rootRoute.addChildren([indexRoute, endpointsRoute.addChildren([addEndpointRoute])]),
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

/** The pages that the sidebar leads to; each comes with its feature. */
const pages = [{ to: '/endpoints', label: 'Endpoints', Icon: IconPlugConnected }] as const

function Frame() {
  const lost = useConnection().state === 'lost'
  return (
    <Shell
      nav={pages.map(({ to, label, Icon }) => (
        <Link key={to} to={to} className={navItemClass}>
          <Icon size={16} stroke={1.5} aria-hidden="true" />
          {label}
        </Link>
      ))}
      status={<ConnectionStatus />}
      banner={<ConnectionBanner />}
      stale={lost}
    >
      <Outlet />
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
