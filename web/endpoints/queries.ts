import { type QueryClient, queryOptions } from '@tanstack/react-query'
import { formatHost, parseAddress } from '../../server/contract/endpoints/address.ts'
import type { ListenerStatus } from '../../server/contract/endpoints/listener.ts'
import { api, pollWhileSignedIn, readJson } from '../api/client.ts'
import { mergeEntries } from '../api/merge-entries.ts'
import { endpointsQuery, policiesQuery } from '../api/queries.ts'

// The first part of each key is the type of the live event that refetches the query
// (web/api/live/invalidate-soon.ts). The two long lists refetch only the named endpoints.

/** Polling interval for the figures of visible rows, ms: the server's sample interval. */
const FIGURES_MS = 5_000
/** Number of samples in the sparkline of a row. */
const SPARKLINE_SAMPLES = 24

/** All listeners. Their counters are as old as the last read; see {@link figuresQuery}. */
export const listenersQuery = queryOptions({
  queryKey: ['listener'],
  queryFn: ({ signal }) => readJson(api._api.listener.$get({ query: {} }, { init: { signal } })),
  meta: {
    refetchEndpoints: async (queryClient: QueryClient, names: readonly string[]) => {
      const fresh = await readJson(api._api.listener.$get({ query: { endpoint: [...names] } }))
      queryClient.setQueryData(
        ['listener'],
        (now: ListenerStatus[] | undefined) => now && mergeEntries(now, names, fresh),
      )
    },
  },
})

/** The listeners of visible rows, with the request rates of the last two minutes if `recent`. */
export const figuresQuery = (addresses: readonly string[], recent: boolean) =>
  queryOptions({
    queryKey: ['figures', addresses, recent],
    queryFn: ({ signal }) => {
      const query = { endpoint: [...addresses], ...(recent && { recent: `${SPARKLINE_SAMPLES}` }) }
      return readJson(api._api.listener.$get({ query }, { init: { signal } }))
    },
    enabled: addresses.length > 0,
    refetchInterval: pollWhileSignedIn(FIGURES_MS),
    gcTime: 0,
    // The next poll follows soon.
    retry: false,
  })

/**
 * The addresses of this machine, for the form. They change without an event, so they are never
 * cached.
 */
export const addressesQuery = queryOptions({
  queryKey: ['address'],
  queryFn: ({ signal }) => readJson(api._api.address.$get({ query: {} }, { init: { signal } })),
  staleTime: 0,
})

/** A free port on the host of an address, near its own; null if none was found. */
export const freePortQuery = (address: string) =>
  queryOptions({
    queryKey: ['address', address],
    queryFn: async ({ signal }) => {
      const parsed = parseAddress(address)
      if (!parsed.ok || parsed.address.scheme === 'unix') return null
      const { host, port } = parsed.address
      const query = { near: `${port}` }
      const all = await readJson(api._api.address.$get({ query }, { init: { signal } }))
      const own = all.filter((each) => each.host === formatHost(host))
      // A wildcard or a name may be any of the addresses.
      const ports = (own.length > 0 ? own : all).map(({ freePort }) => freePort ?? 0)
      return Math.max(...ports) || null
    },
    staleTime: 0,
    gcTime: 0,
    retry: false,
  })

/**
 * Refetches the endpoints and listeners of the given addresses only, and the policies if they are
 * shown. Never rejects: live events refetch what could not be read.
 */
export async function refetchEndpoints(
  queryClient: QueryClient,
  addresses: readonly string[],
): Promise<void> {
  await Promise.all([
    ...[endpointsQuery, listenersQuery].map(({ meta }) =>
      meta?.refetchEndpoints?.(queryClient, addresses).catch(() => {}),
    ),
    refetchPolicies(queryClient),
  ])
}

/** Refetches the policies if they are loaded, which they are not for viewers. Never rejects. */
export async function refetchPolicies(queryClient: QueryClient): Promise<void> {
  if (queryClient.getQueryData(policiesQuery.queryKey) === undefined) return
  await queryClient.fetchQuery({ ...policiesQuery, staleTime: 0, retry: false }).catch(() => {})
}
