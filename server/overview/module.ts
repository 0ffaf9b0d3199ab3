import type { EndpointsModule } from '../endpoints/module.ts'
import type { ErrorLog } from '../health/error-log.ts'
import type { NodesModule } from '../nodes/module.ts'
import { type AttentionDeps, createAttention } from './attention.ts'
import { type OverviewRoutesDeps, overviewRoutes } from './routes.ts'
import { createTrafficMinutes, type TrafficMinutesDeps } from './traffic-minutes.ts'

export interface OverviewModuleDeps
  extends Omit<OverviewRoutesDeps, 'minutes' | 'findAttention'>,
    Pick<AttentionDeps, 'data' | 'databaseExists' | 'certificates'>,
    Pick<TrafficMinutesDeps, 'store'> {
  readonly endpoints: Pick<EndpointsModule, 'list' | 'listeners' | 'statuses'>
  readonly nodes: Pick<NodesModule, 'name' | 'now' | 'listeners'>
  readonly logError: ErrorLog
}

/** Creates what an overview shows: the traffic of the last day, and what needs attention. */
export function createOverviewModule(deps: OverviewModuleDeps) {
  const { store, endpoints, nodes } = deps
  const minutes = createTrafficMinutes({
    store,
    node: nodes.name,
    now: nodes.now,
    listeners: endpoints.listeners,
  })
  const findAttention = createAttention({
    ...deps,
    now: nodes.now,
    endpoints: endpoints.list,
    listeners: () => [...endpoints.statuses(), ...nodes.listeners()],
  })
  return {
    ...overviewRoutes({ ...deps, minutes, findAttention }),
    /** Stores the traffic of each minute when it ends. Returns a function that stops it. */
    start: () => minutes.start(deps.logError('the traffic of a minute could not be stored')),
  }
}

export type OverviewModule = ReturnType<typeof createOverviewModule>
