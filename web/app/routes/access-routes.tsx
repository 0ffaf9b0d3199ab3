import { createRoute, redirect } from '@tanstack/react-router'
import { readAccessSearch } from '../../access/access-search.ts'
import { rootRoute } from '../frame.tsx'
import { lazyPage } from '../lazy-page.tsx'

const accessRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/access',
  component: lazyPage(async () => (await import('../../access/access-page.tsx')).AccessPage, {
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
  validateSearch: readAccessSearch,
  component: lazyPage(
    async () => (await import('../../access/people/people-page.tsx')).PeoplePage,
    {
      what: 'the people',
    },
  ),
})

const personRoute = createRoute({
  getParentRoute: () => accessRoute,
  path: '/people/$id',
  validateSearch: readAccessSearch,
  component: lazyPage(
    async () => (await import('../../access/people/person-page.tsx')).PersonPage,
    { what: 'the person' },
  ),
})

const tokensRoute = createRoute({
  getParentRoute: () => accessRoute,
  path: '/tokens',
  validateSearch: readAccessSearch,
  component: lazyPage(
    async () => (await import('../../access/tokens/tokens-page.tsx')).TokensPage,
    {
      what: 'the tokens',
    },
  ),
})

const newToken = lazyPage(
  async () => (await import('../../access/tokens/create-token-dialog.tsx')).NewTokenDialog,
)

const newTokenRoute = createRoute({
  getParentRoute: () => tokensRoute,
  path: '/new',
  component: newToken,
})

const providersRoute = createRoute({
  getParentRoute: () => accessRoute,
  path: '/providers',
  validateSearch: readAccessSearch,
  component: lazyPage(
    async () => (await import('../../access/providers/providers-page.tsx')).ProvidersPage,
    { what: 'the providers' },
  ),
})

const meRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/me',
  validateSearch: readAccessSearch,
  component: lazyPage(async () => (await import('../../access/me-page.tsx')).MePage, {
    what: 'your page',
    heading: 'Your page',
  }),
})

const myNewTokenRoute = createRoute({
  getParentRoute: () => meRoute,
  path: '/new-token',
  component: newToken,
})

/** Pages and dialogs of people, tokens and providers, and the page of the signed-in person. */
export const accessRoutes = [
  accessRoute.addChildren([
    accessIndexRoute,
    peopleRoute,
    personRoute,
    tokensRoute.addChildren([newTokenRoute]),
    providersRoute,
  ]),
  meRoute.addChildren([myNewTokenRoute]),
] as const
