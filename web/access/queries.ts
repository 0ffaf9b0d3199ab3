import { queryOptions } from '@tanstack/react-query'
import { api, pollWhileSignedIn, readJson } from '../api/client.ts'

// The first part of each key is the type of the live event that invalidates the query
// (web/api/live/invalidate-soon.ts). Uses and expirations emit no event, so the queries also
// poll.

/** Poll interval in milliseconds. */
const POLL_MS = 60_000

const polled = { staleTime: 0, refetchInterval: pollWhileSignedIn(POLL_MS) } as const

/** The open sessions of a person. `me` is the signed-in person. */
export const sessionsQuery = (person: string) =>
  queryOptions({
    queryKey: ['person', person, 'session'],
    queryFn: ({ signal }) =>
      readJson(api._api.user[':id'].session.$get({ param: { id: person } }, { init: { signal } })),
    ...polled,
  })

/** The invitations that can be accepted, newest first. A sign-in accepts one. */
export const invitationsQuery = queryOptions({
  queryKey: ['person', 'invitation'],
  queryFn: ({ signal }) => readJson(api._api.invitation.$get({}, { init: { signal } })),
  ...polled,
})

/** Poll interval of a test, ms. Any node may get its callback, so there is no event. */
const TEST_POLL_MS = 1_000

/** A test of a provider, read again until it ends. */
export const providerTestQuery = (name: string, id: string) =>
  queryOptions({
    queryKey: ['provider', name, 'test', id],
    queryFn: ({ signal }) =>
      readJson(
        api._api.provider[':name'].test[':id'].$get({ param: { name, id } }, { init: { signal } }),
      ),
    staleTime: 0,
    refetchOnWindowFocus: true,
    refetchInterval: (query) => {
      const { state } = query.state.data ?? {}
      return state === 'passed' || state === 'failed' || query.state.error !== null
        ? false
        : TEST_POLL_MS
    },
  })

/** The providers, for admins. */
export const providersQuery = queryOptions({
  queryKey: ['provider'],
  queryFn: ({ signal }) => readJson(api._api.provider.setup.$get({}, { init: { signal } })),
  staleTime: 0,
})
