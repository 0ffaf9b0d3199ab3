import { createRoute, createRouter, redirect } from '@tanstack/react-router'
import { restoresScroll } from '../shared/use-dialog-navigation.ts'
import { LazyFailure } from '../ui/feedback/lazy-failure.tsx'
import { rootRoute } from './frame.tsx'
import { accessRoutes } from './routes/access-routes.tsx'
import { activityRoutes } from './routes/activity-routes.tsx'
import { certificateRoutes } from './routes/certificate-routes.tsx'
import { dataRoutes } from './routes/data-routes.tsx'
import { endpointRoutes } from './routes/endpoint-routes.tsx'
import { overviewRoute } from './routes/overview-routes.tsx'
import { webhookRoutes } from './routes/webhook-routes.tsx'

const indexRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/',
  beforeLoad: () => {
    throw redirect({ to: '/overview' })
  },
})

/** All pages and dialogs of the console, below `/_console`. */
export const router = createRouter({
  basepath: '/_console',
  defaultErrorComponent: () => <LazyFailure />,
  routeTree: rootRoute.addChildren([
    indexRoute,
    overviewRoute,
    ...endpointRoutes,
    ...certificateRoutes,
    ...dataRoutes,
    ...webhookRoutes,
    ...accessRoutes,
    ...activityRoutes,
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
  scrollRestoration: restoresScroll,
})

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router
  }
}
