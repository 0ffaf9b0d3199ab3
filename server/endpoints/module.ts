import type { Logger } from 'pino'
import { includesDatabase, SYSTEM_DATABASE } from '../contract/database.ts'
import { isWildcard } from '../contract/endpoints/address.ts'
import { SAMPLE_SECONDS } from '../contract/endpoints/traffic.ts'
import type { EventHub } from '../events/hub.ts'
import type { ErrorLog } from '../health/error-log.ts'
import type { RequireRole } from '../http/guards/require-role.ts'
import type { HttpModule } from '../http/module.ts'
import type { NodesModule } from '../nodes/module.ts'
import { createPolicies } from '../policy/policies.ts'
import { createRateLimit } from '../rate-limit.ts'
import { createBulkChanges } from './bulk/bulk-changes.ts'
import { endpointChangeRoutes } from './bulk/routes.ts'
import { CHECKS_PER_MINUTE, createCheckLimit } from './check/check-limit.ts'
import { endpointCheckRoutes } from './check/routes.ts'
import { addressRoutes, listenerRoutes } from './listener-routes.ts'
import { listenerStatus } from './listener-status.ts'
import { createMetrics } from './metrics.ts'
import { metricsRoutes } from './metrics-routes.ts'
import { type ConfiguredEndpoints, openEndpoints } from './registry/open-endpoints.ts'
import { createPeers } from './registry/placement/peers.ts'
import { sweepProposals } from './registry/placement/proposals.ts'
import { createEndpointRegistry, type EndpointRegistryDeps } from './registry/registry.ts'
import { endpointRoutes } from './routes.ts'

export interface EndpointsModuleDeps
  extends Pick<
    EndpointRegistryDeps,
    'store' | 'record' | 'engine' | 'certificates' | 'grace' | 'reservedFolders'
  > {
  readonly nodes: NodesModule
  readonly events: Pick<EventHub, 'publish'>
  readonly http: Pick<HttpModule, 'hosts' | 'reserve' | 'sendList' | 'isTrustedProxy'>
  readonly requireRole: RequireRole
  readonly log: Logger
  readonly droppedLogLines: () => number
  readonly logError: ErrorLog
}

/** Creates the registry of endpoints, their bulk changes and metrics, and their routes. */
export function createEndpointsModule(deps: EndpointsModuleDeps) {
  const { store, record, certificates, nodes, events, http, requireRole, log } = deps
  let onRefusal: NonNullable<EndpointRegistryDeps['onRefusal']> = () => {}
  const registry = createEndpointRegistry({
    ...deps,
    isTrustedProxy: http.isTrustedProxy,
    onRefusal: (...refusal) => onRefusal(...refusal),
    publish: events.publish,
    peers: nodes.nodes && createPeers(nodes.nodes),
  })
  const policies = createPolicies({
    store,
    record,
    endpoints: registry,
    requireStored: certificates.requireStored,
    now: nodes.now,
    onError: deps.logError('the end of a policy could not be applied'),
  })
  const beginBulkChange = createBulkChanges({
    policies,
    store,
    record,
    endpoints: registry,
    publish: events.publish,
    onError: deps.logError('a change of an endpoint failed'),
  })
  const metrics = createMetrics(registry.listeners, () => deps.engine.unsent, deps.droppedLogLines)

  const checkLimit = createCheckLimit(createRateLimit({ max: CHECKS_PER_MINUTE, period: 60_000 }))

  nodes.handlePeers(registry)
  nodes.onHeartbeat(() => sweepProposals(store))
  http.hosts.add(registry.hasHost)
  const listening = () => registry.listeners().filter(({ state }) => state === 'listening')
  return {
    routes: endpointRoutes({ endpoints: registry, requireRole, sendList: http.sendList }),
    changeRoutes: endpointChangeRoutes({
      begin: beginBulkChange,
      requireRole,
      onError: deps.logError('a bulk change of endpoints ended early'),
    }),
    listenerRoutes: listenerRoutes({
      endpoints: registry,
      node: nodes.name,
      others: nodes.listeners,
      requireRole,
      sendList: http.sendList,
    }),
    addressRoutes: addressRoutes({ endpoints: registry, limit: checkLimit, requireRole }),
    checkRoutes: endpointCheckRoutes({
      endpoints: registry,
      node: nodes.name,
      limit: checkLimit,
      requireRole,
    }),
    metricsRoutes: metricsRoutes(metrics, requireRole, http.reserve),

    /** The metrics of the node. Other modules register theirs here. */
    metrics: metrics.registry,
    sync: registry.sync,
    list: registry.list,
    listeners: registry.listeners,
    /** Returns the statuses of the listeners of this node. */
    statuses: () => registry.listeners().map((each) => listenerStatus(each, nodes.name)),
    mappingOf: registry.mappingOf,
    storedPolicies: registry.storedPolicies,
    /** Sets what is called for each connection that a policy refuses. */
    onRefusal(callback: typeof onRefusal) {
      onRefusal = callback
    },
    policies,
    open: (configured: ConfiguredEndpoints) =>
      openEndpoints({ endpoints: registry, store, node: nodes.name, log }, configured),
    /** Samples the traffic of all listeners periodically. Returns a function that stops it. */
    sampleTraffic: () => sampleTraffic(registry.sample),
    /** Returns the addresses that listen, canonical and sorted. */
    addresses: () => listening().map(({ name }) => name),
    /** Returns the addresses that reach `_system`, and with it the console. */
    adminAddresses: () =>
      listening()
        .filter(({ mapping }) => includesDatabase(mapping.names, SYSTEM_DATABASE))
        // A name that resolves to a wildcard is not an address that clients can use.
        .map(({ address, bound }) => (bound !== undefined && isWildcard(bound) ? bound : address)),
    /** Drains all listeners for at most `grace` ms. A later call can only shorten the time. */
    stop: registry.stop,
    async [Symbol.asyncDispose]() {
      await registry.stop(0)
    },
  }
}

export type EndpointsModule = ReturnType<typeof createEndpointsModule>

/** Delay after the end of a traffic sample, ms: timers may fire slightly early. */
const SAMPLE_AFTER = 20

/**
 * Calls `sample` at every multiple of the period, so that all nodes sample at the same moments.
 * Returns a function that stops it.
 */
function sampleTraffic(sample: (now: number) => void): () => void {
  const period = SAMPLE_SECONDS * 1_000
  let timer: NodeJS.Timeout
  const wait = () => {
    timer = setTimeout(
      () => {
        sample(Date.now())
        wait()
      },
      period - (Date.now() % period) + SAMPLE_AFTER,
    )
  }
  wait()
  return () => clearTimeout(timer)
}
