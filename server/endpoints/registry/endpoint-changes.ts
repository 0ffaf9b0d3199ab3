import type { CertificateSource } from '../../certificates/certificates.ts'
import { includesDatabase, SYSTEM_DATABASE } from '../../contract/database.ts'
import { type Address, formatAddress } from '../../contract/endpoints/address.ts'
import type { EndpointInput } from '../../contract/endpoints/endpoint.ts'
import type { Policy } from '../../contract/endpoints/policy.ts'
import { invariant } from '../../contract/invariant.ts'
import { Failure, failureAt } from '../../failure.ts'
import {
  offersAdministration,
  readPolicy,
  type StoredPolicy,
} from '../../policy/stored-policies.ts'
import type { Caller } from '../../storage/changes/begin-change.ts'
import type { Recorder } from '../../storage/changes/recorder.ts'
import {
  type ExpectedRevision,
  meets,
  requireRevision,
} from '../../storage/changes/require-revision.ts'
import type { Store } from '../../storage/store.ts'
import { canonicalAddress, type KeyedLock, readAddress } from '../address.ts'
import type { Listener } from '../listeners/listener.ts'
import { createMapping, type Mapping } from '../mapping.ts'
import type { AdminAccess, Guard } from './admin-access.ts'
import { createEndpointWriter, type EndpointChange } from './endpoint-writer.ts'
import type { ListenerSet } from './listener-set.ts'
import { explainBindFailure } from './placement/bind-failure.ts'
import type { Placement } from './placement/placement.ts'
import type { Reconciler } from './reconciler/reconciler.ts'

/** Changes of single endpoints. Each stores the desired state, then reconciles the address. */
export interface EndpointChanges {
  /**
   * Opens and stores an endpoint, or replaces the mapping of an existing one without touching its
   * socket. The change is durable and in effect when this resolves; if it rejects, nothing has
   * changed.
   *
   * @returns whether the endpoint was different before.
   * @throws Failure for invalid input or an address that cannot be bound; `conflict` for the last
   * endpoint with `_system`; `precondition-failed`; `unavailable`.
   */
  add(input: EndpointInput, actor: Caller, expected?: ExpectedRevision): Promise<boolean>
  /**
   * Removes an endpoint durably, stops accepting connections, then drains it.
   *
   * @throws Failure `endpoint-not-found`, `conflict`, `precondition-failed`, `unavailable`.
   */
  remove(address: string, actor: Caller, expected?: ExpectedRevision): Promise<void>
  /**
   * Stores the policy of an address with `write` and applies it. The change is durable and in
   * effect when this resolves.
   *
   * @param address canonical.
   * @param policy the new policy; null removes it.
   * @throws Failure `conflict` for the last endpoint that offers the administration; the error of
   * `write`.
   */
  setPolicy(
    address: string,
    policy: Policy | null,
    actor: Caller,
    write: (guard?: Guard) => Promise<StoredPolicy | undefined>,
  ): Promise<StoredPolicy | undefined>
  /** Applies the stored state of an address that another part of the server has changed. */
  apply(address: string): Promise<void>
  /**
   * Stores an endpoint given at startup and opens it if possible. An existing endpoint is not
   * changed. With `strict`, an endpoint that cannot be opened is not stored and the error is
   * thrown.
   */
  ensure(address: Address, actor: Caller, strict: boolean): Promise<void>
}

export interface EndpointChangesDeps {
  readonly store: Store
  readonly record: Recorder
  readonly listeners: ListenerSet
  readonly adminAccess: AdminAccess
  readonly certificates: CertificateSource
  readonly withLock: KeyedLock
  readonly reconcile: Reconciler['reconcile']
  /** `undefined` if the store has a single node. */
  readonly placement: Placement | undefined
}

/** Creates {@link EndpointChanges}. */
export function createEndpointChanges(deps: EndpointChangesDeps): EndpointChanges {
  const { store, listeners, adminAccess, certificates, withLock, reconcile, placement } = deps
  const write = createEndpointWriter(store, deps.record)

  /**
   * Applies a change that another node has just made, if the listener does not meet the
   * precondition. Otherwise the transaction of the change checks the stored endpoint. The caller
   * holds the lock.
   */
  const catchUp = async (address: string, expected: ExpectedRevision) => {
    if (placement === undefined) return
    const found = listeners.get(address)?.revision
    if (found !== undefined && meets(found, expected)) return
    await reconcile(address)
  }

  /** Whether this node does not know the endpoint, so that {@link open} checks the precondition. */
  const isCheckedByOpen = (address: string, expected: ExpectedRevision) =>
    listeners.get(address) === undefined && (expected === undefined || expected === 'none')

  async function put(endpoint: string, { names }: Mapping, change: EndpointChange) {
    const written = await write({ ...change, endpoint, databases: [...names] })
    const { revision, isChanged, policy } = written
    invariant(revision !== undefined, 'a stored endpoint has a revision')
    return { desired: { databases: names, revision, policy }, isChanged }
  }

  /** Opens an address and stores it. Returns the Failure if the address cannot be opened. */
  async function open(
    address: Address,
    mapping: Mapping,
    change: EndpointChange,
  ): Promise<Failure | undefined> {
    const policy = await readPolicy(store.db, formatAddress(address))
    const opened = listeners.create(address, mapping, 0, policy)
    try {
      if (opened.state !== 'closed') await opened.open()
    } catch (error) {
      opened.close()
      const { reason } = explainBindFailure(error as Failure, address, listeners.listed())
      return failureAt('/endpoint', reason)
    }
    // Another node may have just stored the address as the last one with `_system`.
    const storeMapping = (guard?: EndpointChange['guard']) =>
      put(opened.name, mapping, { ...change, guard })
    const storeEndpoint = async () => {
      const storing = includesDatabase(mapping.names, SYSTEM_DATABASE)
        ? storeMapping()
        : adminAccess.withdraw(opened, change.actor.address, storeMapping)
      const { desired } = await storing.catch((error: unknown) => {
        opened.close()
        throw error
      })
      await reconcile(opened.name, { desired, opened })
    }
    // Opening port 0 gives an address whose lock is not held. Without it, a sync that reads the new
    // endpoint would open the address a second time.
    await (opened.name === formatAddress(address)
      ? storeEndpoint()
      : withLock(opened.name, storeEndpoint))
    return undefined
  }

  /** Returns whether the mapping was different before. */
  async function remap(
    listener: Listener,
    mapping: Mapping,
    change: EndpointChange,
  ): Promise<boolean> {
    if (sameNames(listener.mapping, mapping) && placement === undefined) return false
    const storeMapping = async (guard?: EndpointChange['guard']) => {
      const seen = listener.version
      const { desired, isChanged } = await put(listener.name, mapping, { ...change, guard })
      await reconcile(listener.name, { desired, seen })
      return isChanged
    }
    return includesDatabase(mapping.names, SYSTEM_DATABASE)
      ? storeMapping()
      : adminAccess.withdraw(listener, change.actor.address, storeMapping)
  }

  const changes: EndpointChanges = {
    async add(input, actor, expected) {
      const address = readAddress(input.endpoint)
      const mapping = createMapping(input.databases)
      const endpoint = formatAddress(address)
      const change = { actor, expected }
      const result = await withLock(endpoint, async () => {
        if (!isCheckedByOpen(endpoint, expected)) await catchUp(endpoint, expected)
        let existing = listeners.get(endpoint)
        if (existing === undefined) {
          requireRevision('endpoint', endpoint, undefined, expected)
          if (listeners.stopping) throw stoppingFailure()
          const failure = await open(address, mapping, change)
          if (failure === undefined) return true
          if (placement === undefined) return failure
          // Another node may have just stored the endpoint and use its port.
          await reconcile(endpoint)
          existing = listeners.get(endpoint)
          if (existing === undefined) return failure
        }
        requireRevision('endpoint', endpoint, existing.revision, expected)
        return remap(existing, mapping, change)
      })
      if (typeof result === 'boolean') return result
      if (placement === undefined) throw result
      const proposal = { endpoint, databases: [...mapping.names], actor }
      const outcome = await placement.openElsewhere(proposal, expected, result)
      return outcome === 'opened' || changes.add(proposal, actor, expected)
    },
    async remove(text, actor, expected) {
      const endpoint = canonicalAddress(text)
      if (endpoint === undefined) throw notFound()
      await withLock(endpoint, async () => {
        await catchUp(endpoint, expected)
        const listener = listeners.get(endpoint)
        if (listener === undefined) throw notFound()
        requireRevision('endpoint', endpoint, listener.revision, expected)
        const found = await adminAccess.withdraw(listener, actor.address, async (guard) => {
          const seen = listener.version
          const written = await write({ endpoint, databases: null, actor, expected, guard })
          const { revision, isChanged } = written
          await reconcile(endpoint, { desired: { databases: null, revision }, seen })
          return isChanged
        })
        if (!found) throw notFound()
      })
    },
    setPolicy: (address, policy, actor, write) =>
      withLock(address, async () => {
        if (placement !== undefined) await reconcile(address)
        const listener = listeners.get(address)
        const isSecure = listener?.address.scheme === 'ssl'
        if (isSecure && policy?.tls === undefined && !certificates.has('default')) {
          throw new Failure(
            'conflict',
            'The endpoint would have no certificate. Name one in its policy, or add one with the name "default".',
            { field: '/tls' },
          )
        }
        const offers = (stored: Parameters<typeof offersAdministration>[0]) =>
          offersAdministration(stored, actor.address)
        const isWithdrawn = !offers({ policy, trial: null }) && offers(listener?.storedPolicy)
        const servesSystem = listener && includesDatabase(listener.mapping.names, SYSTEM_DATABASE)
        const stored =
          listener !== undefined && servesSystem && isWithdrawn
            ? await adminAccess.withdraw(listener, actor.address, write)
            : await write()
        await reconcile(address)
        return stored
      }),
    apply: (address) => withLock(address, () => reconcile(address)),
    async ensure(address, actor, strict) {
      const endpoint = formatAddress(address)
      await withLock(endpoint, async () => {
        await catchUp(endpoint, undefined)
        if (listeners.get(endpoint) !== undefined) return
        const change = { actor, expected: 'none' } as const
        const mapping = createMapping([])
        try {
          const openFailure = await open(address, mapping, change)
          if (openFailure === undefined) return
          if (strict) throw openFailure
          const { desired } = await put(endpoint, mapping, change)
          await reconcile(endpoint, { desired })
        } catch (error) {
          if (!(error instanceof Failure && error.code === 'precondition-failed')) throw error
          // Another node has just added it.
          await reconcile(endpoint)
        }
      })
    },
  }
  return changes
}

export const stoppingFailure = () =>
  new Failure('unavailable', 'This node is stopping and cannot open endpoints. Try again.')

export const notFound = () => new Failure('endpoint-not-found', 'endpoint not found')

const sameNames = (a: Mapping, b: Mapping): boolean =>
  a.names.length === b.names.length && a.names.every((name, at) => name === b.names[at])
