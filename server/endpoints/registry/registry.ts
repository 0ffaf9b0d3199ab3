import { access, constants } from 'node:fs/promises'
import { createServer } from 'node:net'
import { dirname } from 'node:path'
import type { Logger } from 'pino'
import type { CertificateSource } from '../../certificates/certificates.ts'
import { type Address, formatAddress } from '../../contract/endpoints/address.ts'
import type { EndpointRecord } from '../../contract/endpoints/endpoint.ts'
import { SAMPLE_SECONDS } from '../../contract/endpoints/traffic.ts'
import type { LiveEvent } from '../../contract/event.ts'
import { Failure } from '../../failure.ts'
import { isDue, type StoredPolicy } from '../../policy/stored-policies.ts'
import type { Recorder } from '../../storage/changes/recorder.ts'
import type { Store } from '../../storage/store.ts'
import { bind, bindingFailure, createKeyedLock, resolveHost } from '../address.ts'
import { openFilesLimit } from '../listeners/connections/connection-limit.ts'
import type { HttpEngine } from '../listeners/http-engine.ts'
import type { Listener } from '../listeners/listener.ts'
import { findSocket, requireSafeFolder } from '../listeners/unix-socket.ts'
import type { Mapping } from '../mapping.ts'
import { lastSampleAt } from '../traffic.ts'
import { createAdminAccess } from './admin-access.ts'
import { createEndpointChanges, type EndpointChanges, stoppingFailure } from './endpoint-changes.ts'
import { createListenerCommands, type ListenerCommands } from './listener-commands.ts'
import { createListenerSet, type ListenerSetDeps } from './listener-set.ts'
import { type BindFailure, explainBindFailure } from './placement/bind-failure.ts'
import type { Peers } from './placement/peers.ts'
import { createPlacement, runsElsewhere } from './placement/placement.ts'
import { createReconciler } from './reconciler/reconciler.ts'
import { createSynchronizer, type Synchronizer } from './synchronizer.ts'

/** The endpoints of this node: the configuration and the listeners that implement it. */
export interface EndpointRegistry extends EndpointChanges, ListenerCommands, Synchronizer {
  /** Returns all endpoints, sorted by address. */
  list(): EndpointRecord[]
  /** Number of endpoints. */
  readonly size: number
  /** Returns the mapping of an endpoint by its canonical address. */
  mappingOf(address: string): Mapping | undefined
  /** Returns the policies of all endpoints, sorted by address. */
  storedPolicies(): [address: string, StoredPolicy | undefined][]
  /** Returns the addresses whose policy demands a change at a time, ms since 1970. */
  due(now: number): string[]
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
  /** Returns the number of the last completed sample (see `lastSampleAt`). */
  lastSample(): number
  /** Drains all listeners for at most `grace` ms. A later call can only shorten the time. */
  stop(grace: number): Promise<void>
}

export interface EndpointRegistryDeps {
  readonly store: Store
  /** Writes audit entries in the transaction of the change. */
  readonly record: Recorder
  readonly engine: HttpEngine<Listener>
  readonly certificates: CertificateSource
  readonly publish: (event: LiveEvent) => void
  /** How long a removed endpoint drains, ms. */
  readonly grace: number
  readonly onRefusal?: ListenerSetDeps['onRefusal']
  /** Returns whether an address is that of a trusted proxy; by default none is. */
  readonly isTrustedProxy?: (address: string) => boolean
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
    certificates: deps.certificates,
    onCertificateError: (endpoint, err) =>
      log?.error({ endpoint, err }, 'the certificates of the endpoint cannot be used'),
    reservedFolders: deps.reservedFolders,
    isTrustedProxy: deps.isTrustedProxy ?? (() => false),
    onRefusal: deps.onRefusal,
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
    ...createEndpointChanges({
      ...shared,
      record,
      adminAccess,
      certificates: deps.certificates,
    }),
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
    mappingOf: (address) => listeners.get(address)?.mapping,
    storedPolicies: () => sorted(listeners.listed()).map((each) => [each.name, each.storedPolicy]),
    due: (now) =>
      [...listeners.listed()]
        .filter(({ storedPolicy }) => storedPolicy !== undefined && isDue(storedPolicy, now))
        .map(({ name }) => name),
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

/** Maximum time a check waits for a host name to resolve, ms. */
const RESOLVE_TIMEOUT = 2_000

interface TryDeps {
  readonly certificates: CertificateSource
  /** Folders in which no socket may be created. */
  readonly reservedFolders?: readonly string[] | undefined
}

/**
 * Checks whether an endpoint could be opened at an address. A port is bound and released at once.
 * For a Unix socket, only the folder and an existing file are examined.
 *
 * @throws Failure with the reason, as opening the endpoint would throw.
 */
async function tryAddress(address: Address, deps: TryDeps): Promise<void> {
  // Any other one may be named in a policy that is not stored yet.
  if (address.scheme === 'ssl' && !deps.certificates.has('any')) deps.certificates.find(undefined)
  try {
    if (address.scheme === 'unix') await tryPath(address.path, deps.reservedFolders ?? [])
    else await tryPort(address.host, address.port)
  } catch (cause) {
    throw cause instanceof Failure ? cause : bindingFailure(address, cause)
  }
}

async function tryPath(path: string, reserved: readonly string[]): Promise<void> {
  await requireSafeFolder(path, reserved)
  await findSocket(path)
  await access(dirname(path), constants.W_OK | constants.X_OK)
}

async function tryPort(name: string, port: number): Promise<void> {
  const { ip: host, v6: ipv6Only } = await resolveSoon(name)
  const server = createServer((socket) => socket.destroy())
  await bind(
    server,
    { host, port, ipv6Only },
    () => new Promise((resolve) => server.close(() => resolve())),
  )
}

async function resolveSoon(name: string): ReturnType<typeof resolveHost> {
  const late = Promise.withResolvers<never>()
  const timer = setTimeout(
    () => late.reject(Object.assign(new Error(`cannot resolve ${name}`), { code: 'ETIMEDOUT' })),
    RESOLVE_TIMEOUT,
  )
  try {
    return await Promise.race([resolveHost(name), late.promise])
  } finally {
    clearTimeout(timer)
  }
}
