import type { Logger } from 'pino'
import type { Address } from '../../contract/endpoints/address.ts'
import type { EventHub } from '../../events/hub.ts'
import type { StoredPolicy } from '../../policy/stored-policies.ts'
import { createConnectionLimit } from '../listeners/connections/connection-limit.ts'
import { Listener, type ListenerDeps } from '../listeners/listener.ts'
import type { Mapping } from '../mapping.ts'
import type { AdminAccess } from './admin-access.ts'
import type { Peers } from './placement/peers.ts'

/**
 * The listeners of this node: one per endpoint, and those of removed endpoints that still drain.
 * The methods change the listeners of one address at once; the reconciler decides when.
 */
export interface ListenerSet {
  get(address: string): Listener | undefined
  /** Number of endpoints. */
  readonly size: number
  /** Yields the listeners of the endpoints, without draining ones, in no order. */
  listed(): IteratorObject<Listener>
  /** Yields the draining listeners. */
  draining(): IteratorObject<Listener>
  /** Whether any endpoint has this host in its address. */
  hasHost(host: string): boolean
  /** Creates a listener that is not in the set and not open; it is `closed` if its policy is off. */
  create(
    address: Address,
    mapping: Mapping,
    revision: number,
    policy: StoredPolicy | undefined,
  ): Listener
  add(listener: Listener): void
  /** Drains a listener, and removes it once it is closed. */
  remove(listener: Listener): void
  /** Sets what applies to a listener from its next request on. */
  update(
    listener: Listener,
    mapping: Mapping,
    revision: number,
    policy: StoredPolicy | undefined,
  ): void
  /** Drains a listener, and lists one that is `closed` in its place. */
  turnOff(listener: Listener): void
  /** Calls back after the state of a listener of an endpoint has changed, and after its removal. */
  onStateChange(callback: (listener: Listener) => void): void
  /** Whether {@link drainAll} was called. No endpoint may be opened any more. */
  readonly stopping: boolean
  /** Drains all listeners for at most `grace` ms. A later call can only shorten the time. */
  drainAll(grace: number): Promise<void>
}

export interface ListenerSetDeps extends Omit<ListenerDeps, 'changed' | 'limit'> {
  readonly adminAccess: AdminAccess
  readonly publish: EventHub['publish']
  /** How long a removed endpoint drains, ms. */
  readonly grace: number
  /** Maximum number of open files of this process. */
  readonly openFiles: number
  readonly peers: Peers | undefined
  readonly log: Pick<Logger, 'info' | 'error'> | undefined
}

/** Maximum time until other nodes report their listeners, ms. */
const REPORT_DELAY = 1_000

/** Creates an empty {@link ListenerSet}. */
export function createListenerSet(deps: ListenerSetDeps): ListenerSet {
  const { adminAccess, publish, grace, openFiles, peers, log, ...listenerDeps } = deps
  const listed = new Map<string, Listener>()
  const draining = new Set<Listener>()
  // Number of endpoints per host. Requests look hosts up, so this avoids a scan.
  const hosts = new Map<string, number>()
  const limit = createConnectionLimit(openFiles, () => listed.size)
  const callbacks: ((listener: Listener) => void)[] = []
  let stopping = false

  function changed(listener: Listener): void {
    // Listeners outside of the set are handled by the code that opens or drains them.
    if (listed.get(listener.name) === listener) {
      adminAccess.update(listener)
      for (const callback of callbacks) callback(listener)
      logState(listener)
      peers?.report(listener)
    }
    publishState(listener)
  }

  const publishState = ({ name, mapping }: Listener) =>
    publish({ type: 'listener', endpoint: name }, mapping.names)

  function logState(listener: Listener): void {
    const { name, state } = listener
    if (state === 'listening') log?.info({ endpoint: name }, 'listening')
    if (state === 'elsewhere') log?.info({ endpoint: name }, 'runs on another node')
    if (state !== 'failed') return
    const logFailure = () => {
      if (listener.state !== 'failed' || listed.get(name) !== listener) return
      const reason = listener.error?.message
      log?.error({ endpoint: name, reason }, 'endpoint could not be opened')
    }
    // Another node may hold the port and may not have reported it yet.
    const isInUse = listener.error?.details.systemCode === 'EADDRINUSE'
    if (peers?.any && isInUse) setTimeout(logFailure, REPORT_DELAY).unref()
    else logFailure()
  }

  function countHost({ address }: Listener, by: 1 | -1): void {
    if (address.scheme === 'unix') return
    const count = (hosts.get(address.host) ?? 0) + by
    if (count === 0) hosts.delete(address.host)
    else hosts.set(address.host, count)
  }

  /** Drains a listener that is no longer listed. */
  function drain(listener: Listener): void {
    draining.add(listener)
    const drained = listener.drain(grace)
    for (const callback of callbacks) callback(listener)
    log?.info({ endpoint: listener.name }, 'endpoint draining')
    peers?.report(listener)
    void drained.then(() => {
      draining.delete(listener)
      const { name } = listener
      const other = listed.get(name) ?? draining.values().find((each) => each.name === name)
      other?.inherit(listener)
      log?.info({ endpoint: listener.name }, 'endpoint closed')
      peers?.forget(listener)
      publishState(listener)
    })
  }

  const create: ListenerSet['create'] = (address, mapping, revision, policy) =>
    new Listener(address, mapping, revision, { ...listenerDeps, limit, changed }, policy)

  return {
    get: (address) => listed.get(address),
    get size() {
      return listed.size
    },
    listed: () => listed.values(),
    draining: () => draining.values(),
    hasHost: (host) => hosts.has(host),
    create,
    add(listener) {
      listed.set(listener.name, listener)
      countHost(listener, 1)
      adminAccess.update(listener)
      peers?.report(listener)
      // The node began to stop while the listener was opening.
      if (stopping) void listener.drain(0)
      logState(listener)
    },
    remove(listener) {
      listed.delete(listener.name)
      countHost(listener, -1)
      adminAccess.forget(listener)
      const { name, mapping } = listener
      publish({ type: 'endpoint', endpoint: name, revision: null }, mapping.names)
      drain(listener)
    },
    update(listener, mapping, revision, policy) {
      const { name, mapping: before } = listener
      listener.revision = revision
      listener.mapping = mapping
      listener.setPolicy(policy)
      adminAccess.update(listener)
      peers?.report(listener)
      publish({ type: 'endpoint', endpoint: name, revision }, bothOf(before, mapping))
    },
    turnOff(listener) {
      const { address, mapping, revision, storedPolicy } = listener
      if (listener.state === 'closed') return
      const off = create(address, mapping, revision, storedPolicy)
      adminAccess.forget(listener)
      listed.set(listener.name, off)
      peers?.report(off)
      drain(listener)
      publishState(listener)
    },
    onStateChange: (callback) => void callbacks.push(callback),
    get stopping() {
      return stopping
    },
    async drainAll(time) {
      stopping = true
      await Promise.all([...listed.values(), ...draining].map((listener) => listener.drain(time)))
    },
  }
}

/** Returns the databases of two mappings; empty for all. */
const bothOf = (one: Mapping, other: Mapping): readonly string[] =>
  one.names.length === 0 || other.names.length === 0 ? [] : one.names.concat(other.names)
