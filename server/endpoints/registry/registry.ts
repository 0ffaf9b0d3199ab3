import type { Logger } from 'pino'
import { createKeyedLock } from '../../concurrency/keyed-lock.ts'
import { type Address, formatAddress } from '../../contract/endpoints/address.ts'
import type { EndpointRecord } from '../../contract/endpoints/endpoint.ts'
import { SAMPLE_SECONDS } from '../../contract/endpoints/traffic.ts'
import type { LiveEvent } from '../../contract/event.ts'
import { Failure } from '../../failure.ts'
import type { Recorder } from '../../storage/changes/recorder.ts'
import type { Store } from '../../storage/store.ts'
import { tryAddress } from '../check/try-address.ts'
import type { Certificate } from '../listeners/certificate.ts'
import { openFilesLimit } from '../listeners/connections/connection-limit.ts'
import type { HttpEngine } from '../listeners/http-engine.ts'
import type { Listener } from '../listeners/listener.ts'
import { lastSampleAt } from '../traffic/traffic-history.ts'
import { createEndpointChanges, type EndpointChanges, stoppingFailure } from './endpoint-changes.ts'
import { createListenerCommands, type ListenerCommands } from './listener-commands.ts'
import { createListenerSet } from './listener-set.ts'
import { createAdminAccess } from './mapping/admin-access.ts'
import { type BindFailure, explainBindFailure } from './placement/bind-failure.ts'
import type { Peers } from './placement/peers.ts'
import { createPlacement, runsElsewhere } from './placement/placement.ts'
import { createReconciler } from './reconciler/reconciler.ts'
import { createSynchronizer, type Synchronizer } from './reconciler/synchronizer.ts'

/** The endpoints of this node: the configuration and the listeners that implement it. */
export interface EndpointRegistry extends EndpointChanges, ListenerCommands, Synchronizer {
  /** Returns all endpoints, sorted by address. */
  list(): EndpointRecord[]
  /** Number of endpoints. */
  readonly size: number
  /** Whether any endpoint has this host in its address. */
  hasHost(host: string): boolean
  /** Returns all listeners, sorted by address; draining listeners follow their successors. */
  listeners(): Listener[]
  /**
   * Checks whether an endpoint could be opened at an address on this node, without side effects.
   * Returns why the address cannot be opened, if so.
   */
  check(address: Address): Promise<BindFailure | undefined>
  /**
   * Re-evaluates failed and `elsewhere` listeners after other nodes have joined, left or changed.
   */
  onPeersChanged(): void
  /** Ends a sampling period of all listeners. Called every {@link SAMPLE_SECONDS} s. */
  sample(now: number): void
  /** Returns the number of the last completed sample (see `traffic-history.ts`). */
  lastSample(): number
  /** Drains all listeners for at most `grace` ms. A later call can only shorten the time. */
  stop(grace: number): Promise<void>
}

export interface EndpointRegistryDeps {
  readonly store: Store
  /** Writes audit entries in the transaction of the change. */
  readonly record: Recorder
  readonly engine: HttpEngine<Listener>
  readonly certificate: Certificate | undefined
  readonly publish: (event: LiveEvent) => void
  /** How long a removed endpoint drains, ms. */
  readonly grace: number
  /** The other nodes that share the store; `undefined` on SQLite. */
  readonly peers?: Peers | undefined
  /** Folders in which no socket may be created: those of the store and of keys. */
  readonly reservedFolders?: readonly string[]
  readonly log?: Pick<Logger, 'info' | 'error'>
  /** Maximum number of open files of this process; by default the system's limit. */
  readonly openFiles?: number
}

/**
 * Creates an {@link EndpointRegistry} without open listeners
 * (docs/decisions/0023-endpoint-reconciler.md).
 */
export function createEndpointRegistry(deps: EndpointRegistryDeps): EndpointRegistry {
  const { store, record, publish, peers, log } = deps
  const adminAccess = createAdminAccess(peers)
  const listeners = createListenerSet({
    engine: deps.engine,
    certificate: deps.certificate,
    reservedFolders: deps.reservedFolders,
    runsElsewhere: (address, failure) => runsElsewhere(peers, address, failure),
    grace: deps.grace,
    openFiles: deps.openFiles ?? openFilesLimit(),
    adminAccess,
    publish,
    peers,
    log,
  })
  const withLock = createKeyedLock()
  const reconciler = createReconciler({ store, listeners, withLock, publish })
  const { reconcile, retry } = reconciler
  const placement =
    peers && createPlacement({ store, record, peers, listeners, withLock, reconciler })
  const shared = { store, listeners, withLock, reconcile, placement }
  let lastSample = lastSampleAt(Date.now())

  return {
    ...createEndpointChanges({ ...shared, record, adminAccess }),
    ...createListenerCommands(listeners, retry, peers),
    ...createSynchronizer(shared),
    list: () =>
      sorted(listeners.listed()).map(({ name, mapping }) => ({
        endpoint: name,
        databases: [...mapping.names],
      })),
    get size() {
      return listeners.size
    },
    hasHost: listeners.hasHost,
    listeners: () => sorted([...listeners.listed(), ...listeners.draining()]),
    check(address) {
      const endpoint = formatAddress(address)
      return withLock(endpoint, async () => {
        if (listeners.stopping) throw stoppingFailure()
        if (listeners.get(endpoint) !== undefined) {
          const reason = new Failure('conflict', `The endpoint ${endpoint} already exists.`)
          return { reason, endpoint }
        }
        try {
          await tryAddress(address, deps)
          return undefined
        } catch (error) {
          if (!(error instanceof Failure)) throw error
          return explainBindFailure(error, address, listeners.listed())
        }
      })
    },
    onPeersChanged: () => placement?.onPeersChanged(),
    sample(now) {
      lastSample = lastSampleAt(now)
      for (const listener of listeners.listed()) listener.sample(lastSample, SAMPLE_SECONDS)
      for (const listener of listeners.draining()) listener.sample(lastSample, SAMPLE_SECONDS)
    },
    lastSample: () => lastSample,
    stop(grace) {
      reconciler.stop()
      return listeners.drainAll(grace)
    },
  }
}

const sorted = (listeners: Iterable<Listener>): Listener[] =>
  [...listeners].sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0))
