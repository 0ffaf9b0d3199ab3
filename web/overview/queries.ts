import { queryOptions } from '@tanstack/react-query'
import type { TrafficRange } from '../../server/contract/overview.ts'
import { api, pollWhileSignedIn, readJson } from '../api/client.ts'
import { fillPage } from '../shared/changes/fill-page.ts'
import { groupChanges } from '../shared/changes/group-changes.ts'

/** Polling interval of the traffic, ms. */
const TRAFFIC_MS = 15_000

/** Polling interval of what has no event, such as an expiry or a full disk, ms. */
const ATTENTION_MS = 60_000

/** The traffic of all endpoints that the person may see, and their states. */
export const trafficQuery = (range: TrafficRange) =>
  queryOptions({
    queryKey: ['listener', 'traffic', range],
    queryFn: ({ signal }) =>
      readJson(api._api.traffic.$get({ query: { range } }, { init: { signal } })),
    staleTime: TRAFFIC_MS,
    refetchInterval: pollWhileSignedIn(TRAFFIC_MS),
  })

/** The traffic of each endpoint that the person may see. */
export const endpointFiguresQuery = (range: TrafficRange) =>
  queryOptions({
    queryKey: ['listener', 'traffic', 'endpoints', range],
    queryFn: ({ signal }) =>
      readJson(api._api.traffic.endpoint.$get({ query: { range } }, { init: { signal } })),
    staleTime: TRAFFIC_MS,
    refetchInterval: pollWhileSignedIn(4 * TRAFFIC_MS),
  })

/** What needs a person. Events of most types refetch it. */
export const attentionQuery = queryOptions({
  queryKey: ['attention'],
  queryFn: ({ signal }) => readJson(api._api.attention.$get({}, { init: { signal } })),
  staleTime: ATTENTION_MS,
  refetchInterval: pollWhileSignedIn(ATTENTION_MS),
})

/** Number of changes that the page shows. */
const CHANGES = 10

/** Number of rows that a request reads, because sessions are left out. */
const ROWS = 40

/** The last changes, without sign-ins and sign-outs. */
export const changesQuery = queryOptions({
  queryKey: ['audit', 'overview'],
  queryFn: ({ signal }) =>
    fillPage(CHANGES, undefined, async (before) => {
      const query = { limit: `${ROWS}`, ...(before !== undefined && { before: `${before}` }) }
      const { rows, next } = await readJson(api._api.audit.$get({ query }, { init: { signal } }))
      return { rows: rows.filter(({ action }) => !action.startsWith('session.')), next }
    }),
  select: ({ rows }) =>
    groupChanges(rows)
      .slice(0, CHANGES)
      .map(({ row }) => row),
  staleTime: 0,
})
