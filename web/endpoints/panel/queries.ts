import { queryOptions } from '@tanstack/react-query'
import { SAMPLE_SECONDS } from '../../../server/contract/endpoints/traffic.ts'
import { ApiFailure, api, pollWhileSignedIn, readJson } from '../../api/client.ts'

/** Number of audit log rows in the panel. */
const LINES = 25

const isGone = (error: unknown) => error instanceof ApiFailure && error.status === 404

/** The traffic of an endpoint in the last hour, polled at the server's sample interval. */
export const trafficQuery = (address: string) =>
  queryOptions({
    queryKey: ['traffic', address],
    queryFn: ({ signal }) =>
      readJson(
        api._api.listener.traffic.$get({ query: { endpoint: address } }, { init: { signal } }),
      ),
    refetchInterval: (query) =>
      !isGone(query.state.error) && pollWhileSignedIn(SAMPLE_SECONDS * 1_000)(query),
    gcTime: 0,
    staleTime: 0,
  })

/** Polling interval of the response times, ms. Samples are stored once a minute. */
const RESPONSE_MS = 60_000

/** The requests of an endpoint in the last hour, with their durations. */
export const responseTimesQuery = (address: string) =>
  queryOptions({
    // Not a key of listeners, whose events would refetch it after a removal.
    queryKey: ['response-times', address],
    queryFn: ({ signal }) =>
      readJson(
        api._api.traffic.$get({ query: { endpoint: address, range: '1h' } }, { init: { signal } }),
      ),
    staleTime: RESPONSE_MS,
    refetchInterval: (query) => !isGone(query.state.error) && pollWhileSignedIn(RESPONSE_MS)(query),
    gcTime: 0,
  })

/** The latest audit log rows of an endpoint, refetched by live events. */
export const endpointLogQuery = (address: string) =>
  queryOptions({
    queryKey: ['audit', 'endpoint', address],
    queryFn: ({ signal }) =>
      readJson(
        api._api.audit.$get({ query: { which: address, limit: `${LINES}` } }, { init: { signal } }),
      ),
    gcTime: 0,
    staleTime: 0,
  })
