import { Hono } from 'hono'
import { createEndpointView } from '../contract/access/scope.ts'
import { type EndpointState, leadOf, stateOf } from '../contract/endpoints/listener-state.ts'
import { DURATION_BOUNDS } from '../contract/endpoints/traffic.ts'
import {
  attention,
  type EndpointTraffic,
  endpointTraffic,
  endpointTrafficQuery,
  STORED_ENDPOINTS,
  SUMMED_ENDPOINTS,
  TRAFFIC_RANGES,
  type Traffic,
  traffic,
  trafficQuery,
} from '../contract/overview.ts'
import type { EndpointsModule } from '../endpoints/module.ts'
import { Failure } from '../failure.ts'
import type { AppEnv } from '../http/env.ts'
import { principalOf, type RequireRole } from '../http/guards/require-role.ts'
import { queryInput } from '../http/input/query-input.ts'
import type { HttpModule } from '../http/module.ts'
import { describe } from '../http/openapi/describe.ts'
import type { NodesModule } from '../nodes/module.ts'
import type { createAttention } from './attention.ts'
import type { TrafficMinutes } from './traffic-minutes.ts'

export interface OverviewRoutesDeps {
  readonly endpoints: Pick<EndpointsModule, 'list' | 'listeners'>
  readonly canonicalAddress: (text: string) => string | undefined
  readonly nodes: Pick<NodesModule, 'listeners'>
  readonly http: Pick<HttpModule, 'sendList'>
  readonly requireRole: RequireRole
  readonly minutes: Pick<TrafficMinutes, 'read' | 'readEach'>
  readonly findAttention: ReturnType<typeof createAttention>
}

/** `/_api/traffic` and `/_api/attention` (docs/http-api.md, "Listeners"). */
export function overviewRoutes(deps: OverviewRoutesDeps) {
  const { endpoints, nodes, http, requireRole, minutes, findAttention } = deps

  /** Returns the state and the traffic of the listeners of all nodes that `shows` selects. */
  function currentOf(shows: (endpoint: string) => boolean) {
    const listeners = [
      ...endpoints.listeners().map(({ name, state, traffic: { lastMinute } }) => ({
        ...{ endpoint: name, state, lastMinute, silentSince: undefined },
      })),
      ...nodes.listeners(),
    ].filter(({ endpoint }) => shows(endpoint))
    const states: Partial<Record<EndpointState, number>> = {}
    for (const group of Map.groupBy(listeners, ({ endpoint }) => endpoint).values()) {
      // One that drains may have a successor.
      const open = group.filter(({ state }) => state !== 'draining')
      const lead = leadOf(open.length > 0 ? open : group)
      const state = lead === undefined ? 'unknown' : stateOf(lead)
      states[state] = (states[state] ?? 0) + 1
    }
    const lastMinute = { requests: 0, rejected: 0, failed: 0 }
    for (const { lastMinute: last, silentSince } of listeners) {
      if (last === undefined || silentSince !== undefined) continue
      lastMinute.requests += last.requests
      lastMinute.rejected += last.rejected
      lastMinute.failed += last.failed
    }
    return { endpoints: states, lastMinute }
  }

  return {
    trafficRoutes: new Hono<AppEnv>()
      .get(
        '/endpoint',
        describe({
          summary: 'Get the traffic of the last hour or day of each endpoint, at most 100',
          query: endpointTrafficQuery,
          responses: { 200: endpointTraffic },
          failures: { 400: 'a parameter is invalid' },
        }),
        requireRole('viewer'),
        queryInput(endpointTrafficQuery),
        async (c) => {
          const view = createEndpointView(principalOf(c).databases)
          const shown = endpoints.list().filter((each) => view.shows(each.databases))
          const names = busiestOf(
            shown.map(({ endpoint }) => endpoint),
            STORED_ENDPOINTS,
          )
          const { until, ...rest } = await minutes.readEach(names, c.req.valid('query').range)
          const body: EndpointTraffic = {
            until: new Date(until).toISOString(),
            bounds: [...DURATION_BOUNDS],
            ...rest,
          }
          return c.json(body, 200)
        },
      )
      .get(
        '/',
        describe({
          summary: 'Get the traffic of the last hour or day, of all endpoints or of one',
          query: trafficQuery,
          responses: { 200: traffic },
          failures: { 400: 'a parameter is invalid', 404: 'there is no such endpoint' },
        }),
        requireRole('viewer'),
        queryInput(trafficQuery),
        async (c) => {
          const { endpoint, range } = c.req.valid('query')
          const { databases } = principalOf(c)
          const view = createEndpointView(databases)
          const isAll = endpoint === undefined && view.shows(undefined)
          const name = endpoint && deps.canonicalAddress(endpoint)
          const shown = endpoints
            .list()
            .filter(
              (each) => view.shows(each.databases) && (name ?? each.endpoint) === each.endpoint,
            )
            .map((each) => each.endpoint)
          if (endpoint !== undefined && shown.length === 0) {
            throw new Failure('endpoint-not-found', 'endpoint not found')
          }
          const { until, steps } = await minutes.read(
            isAll ? undefined : busiestOf(shown, SUMMED_ENDPOINTS),
            range,
          )
          const names = new Set(shown)
          const body: Traffic = {
            until: new Date(until).toISOString(),
            stepSeconds: TRAFFIC_RANGES[range].minutes * 60,
            bounds: [...DURATION_BOUNDS],
            steps,
            ...currentOf((each) => isAll || names.has(each)),
          }
          return c.json(body, 200)
        },
      ),
    attentionRoutes: new Hono<AppEnv>().get(
      '/',
      describe({
        summary: 'List what needs a person, as far as your role and databases permit',
        responses: { 200: attention },
      }),
      requireRole('viewer'),
      async (c) => http.sendList(c, await findAttention(principalOf(c))),
    ),
  }

  /** Returns the endpoints with the most requests since they were opened on this node. */
  function busiestOf(names: readonly string[], max: number): string[] {
    const requests = new Map(endpoints.listeners().map((one) => [one.name, one.traffic.total]))
    return names
      .toSorted((a, b) => (requests.get(b) ?? 0) - (requests.get(a) ?? 0))
      .slice(0, max)
      .toSorted()
  }
}
