import { queryOptions } from '@tanstack/react-query'
import { answer, api, whileSignedIn } from '../api.ts'

// The first part of each key is the type of the live event after which it is read anew
// (web/live/invalidate-soon.ts). No event tells that something was used, or has expired.

/** How often lists are read again while they are in sight, in milliseconds. */
const AGAIN_MS = 60_000

const again = { staleTime: 0, refetchInterval: whileSignedIn(AGAIN_MS) } as const

/** Everybody who has signed in once, for admins; those who wait for a role first. */
export const peopleQuery = queryOptions({
  queryKey: ['person'],
  queryFn: ({ signal }) => answer(api._api.user.$get({}, { init: { signal } })),
  ...again,
})

/** The open sessions of somebody; `me`: of whoever asks. */
export const sessionsQuery = (person: string) =>
  queryOptions({
    queryKey: ['person', person, 'session'],
    queryFn: ({ signal }) =>
      answer(api._api.user[':id'].session.$get({ param: { id: person } }, { init: { signal } })),
    ...again,
  })

/** One's own tokens, or for admins everybody's. */
export const tokensQuery = (whose: 'own' | 'everybody') =>
  queryOptions({
    queryKey: ['token', whose],
    queryFn: ({ signal }) => {
      const query = whose === 'everybody' ? { everybody: 'true' } : {}
      return answer(api._api.token.$get({ query }, { init: { signal } }))
    },
    ...again,
  })

/** The providers as they are set up, for admins; that changes with a restart only. */
export const providersQuery = queryOptions({
  queryKey: ['provider'],
  queryFn: ({ signal }) => answer(api._api.provider.setup.$get({}, { init: { signal } })),
  staleTime: 0,
})
