import { heading, type View } from './view.ts'

const ENDPOINTS = '/_console/endpoints'

/** Pages for people without a role and for visitors who are not signed in. */
export const PUBLIC_VIEWS: readonly (View & { readonly as: 'pending' | 'anonymous' })[] = [
  {
    name: 'waiting for a role',
    as: 'pending',
    url: () => ENDPOINTS,
    shows: heading('Waiting for a role'),
  },
  {
    name: 'sign-in',
    as: 'anonymous',
    url: () => '/_console/sign-in',
    shows: (page) => page.getByRole('button', { name: 'Sign in with Example ID' }),
  },
  {
    name: 'sign-in: operator key',
    as: 'anonymous',
    url: () => '/_console/sign-in',
    steps: (page) => page.getByRole('button', { name: 'Sign in with the operator key' }).click(),
    shows: heading('Sign in with the operator key'),
  },
  {
    name: 'error page: not found',
    as: 'anonymous',
    status: 404,
    url: () => '/_console/assets/gone.js',
    shows: heading('Page not found'),
  },
  {
    name: 'error page: sign-in required',
    as: 'anonymous',
    status: 401,
    url: () => '/_db/blog/articles',
    shows: heading('Sign-in required'),
  },
  {
    name: 'error page: sign-in failed',
    as: 'anonymous',
    status: 400,
    url: () => '/_oauth2/local/auth?code=a&state=b',
    shows: heading('You are not signed in'),
  },
  {
    name: 'invitation: ended',
    as: 'anonymous',
    status: 410,
    url: () => '/_oauth2/invitation?token=gi_none',
    shows: heading('This invitation has ended'),
  },
]
