import { queryOptions } from '@tanstack/react-query'
import { api, pollWhileSignedIn, readJson } from '../api/client.ts'

// The first part of each key is the type of the live event that invalidates the query
// (web/api/live/invalidate-soon.ts). Uses and expirations emit no event, so the queries also
// poll.

/** Poll interval in milliseconds. */
const POLL_MS = 60_000

/** Poll interval of tokens in milliseconds. People watch whether a token is still used. */
const TOKENS_POLL_MS = 5_000

const polled = { staleTime: 0, refetchInterval: pollWhileSignedIn(POLL_MS) } as const

/** All people who have ever signed in, for admins. People waiting for a role come first. */
export const peopleQuery = queryOptions({
  queryKey: ['person'],
  queryFn: ({ signal }) => readJson(api._api.user.$get({}, { init: { signal } })),
  ...polled,
})

/** The open sessions of a person. `me` is the signed-in person. */
export const sessionsQuery = (person: string) =>
  queryOptions({
    queryKey: ['person', person, 'session'],
    queryFn: ({ signal }) =>
      readJson(api._api.user[':id'].session.$get({ param: { id: person } }, { init: { signal } })),
    ...polled,
  })

/** The person's own tokens or, for admins, all tokens. */
export const tokensQuery = (whose: 'own' | 'everybody') =>
  queryOptions({
    queryKey: ['token', whose],
    queryFn: ({ signal }) => {
      const query = whose === 'everybody' ? { everybody: 'true' as const } : {}
      return readJson(api._api.token.$get({ query }, { init: { signal } }))
    },
    ...polled,
    refetchInterval: pollWhileSignedIn(TOKENS_POLL_MS),
  })

/** The configured providers, for admins. They change only when the server restarts. */
export const providersQuery = queryOptions({
  queryKey: ['provider'],
  queryFn: ({ signal }) => readJson(api._api.provider.setup.$get({}, { init: { signal } })),
  staleTime: 0,
})
