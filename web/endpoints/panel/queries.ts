import { queryOptions } from '@tanstack/react-query'
import { SAMPLE_SECONDS } from '../../../server/contract/traffic.ts'
import { ApiFailure, answer, api, whileSignedIn } from '../../api.ts'

/** How many lines of the log the panel shows. */
const LINES = 5

const isGone = (error: unknown) => error instanceof ApiFailure && error.status === 404

const param = (address: string) => ({ address: encodeURIComponent(address) })

/** The last hour of an endpoint, read anew as the server takes its samples. */
export const trafficQuery = (address: string) =>
  queryOptions({
    queryKey: ['traffic', address],
    queryFn: ({ signal }) =>
      answer(
        api._api.listener[':address{.+}'].traffic.$get(
          { param: param(address) },
          { init: { signal } },
        ),
      ),
    refetchInterval: (query) =>
      !isGone(query.state.error) && whileSignedIn(SAMPLE_SECONDS * 1_000)(query),
    gcTime: 0,
    staleTime: 0,
  })

/** The newest lines of the log that are about one endpoint; a live event tells of new ones. */
export const endpointLogQuery = (address: string) =>
  queryOptions({
    queryKey: ['audit', 'endpoint', address],
    queryFn: ({ signal }) =>
      answer(
        api._api.audit.$get(
          { query: { what: 'endpoint', which: address, limit: `${LINES}` } },
          { init: { signal } },
        ),
      ),
    gcTime: 0,
    staleTime: 0,
  })
