import { setTimeout as pause } from 'node:timers/promises'
import type { Address } from '../../../contract/endpoints/address.ts'
import { type Failure, systemCode } from '../../../failure.ts'
import { readPolicy } from '../../../policy/stored-policies.ts'
import type { Recorder } from '../../../storage/changes/recorder.ts'
import type { ExpectedRevision } from '../../../storage/changes/require-revision.ts'
import type { Store } from '../../../storage/store.ts'
import { type KeyedLock, readAddress } from '../../address.ts'
import { createMapping } from '../../mapping.ts'
import type { ListenerSet } from '../listener-set.ts'
import type { Reconciler } from '../reconciler/reconciler.ts'
import type { Peers } from './peers.ts'
import {
  confirmProposal,
  outcomeOf,
  type Proposal,
  propose,
  readProposals,
  withdrawProposal,
} from './proposals.ts'

/** How long an endpoint that cannot be opened here waits for another node to open it, ms. */
const PROPOSAL_TIMEOUT = 2_000

/** Interval at which a proposal is polled, ms. */
const POLL_INTERVAL = 50

/**
 * Decides with the other nodes which of them opens an endpoint
 * (docs/decisions/0014-endpoints-on-several-nodes.md).
 */
export interface Placement {
  /**
   * Proposes an endpoint that cannot be opened here to the other nodes, and waits for one to open
   * it. Returns `exists` if the address was configured or proposed already and is an endpoint now.
   *
   * The caller does not hold the lock of the address: another node may change it.
   *
   * @throws `openFailure` if no node can open it; Failure `precondition-failed`.
   */
  openElsewhere(
    proposal: Omit<Proposal, 'id' | 'node'>,
    expected: ExpectedRevision,
    openFailure: Failure,
  ): Promise<'opened' | 'exists'>
  /** Opens and stores the endpoints that other nodes have proposed, in the background. */
  openProposals(): Promise<void>
  /**
   * Re-evaluates failed and `elsewhere` listeners after other nodes have joined, left or changed.
   */
  onPeersChanged(): void
}

export interface PlacementDeps {
  readonly store: Store
  readonly record: Recorder
  readonly peers: Peers
  readonly listeners: ListenerSet
  readonly withLock: KeyedLock
  readonly reconciler: Pick<Reconciler, 'reconcile' | 'retry'>
}

/** Creates the {@link Placement} of a node among several. */
export function createPlacement(deps: PlacementDeps): Placement {
  const { store, record, peers, listeners, withLock, reconciler } = deps

  const reconcile = (address: string) => withLock(address, () => reconciler.reconcile(address))

  /** Waits until a stored or proposed address is an endpoint here. */
  async function waitForEndpoint(address: string, until: number): Promise<boolean> {
    for (;;) {
      await reconcile(address)
      if (listeners.get(address) !== undefined) return true
      if (performance.now() > until) return false
      await pause(POLL_INTERVAL)
    }
  }

  /** Waits until a proposal is confirmed; withdraws it after a time. */
  async function waitForConfirmation(address: string, id: string, until: number): Promise<boolean> {
    for (;;) {
      const outcome = await outcomeOf(store, address, id)
      if (outcome !== 'waiting') return outcome === 'configured'
      if (performance.now() < until) await pause(POLL_INTERVAL)
      else if (await withdrawProposal(store, address, id)) return false
    }
  }

  /** Opens and stores a proposed endpoint, if this node can open it. */
  function openProposal(proposal: Proposal): Promise<void> {
    const { endpoint, databases } = proposal
    return withLock(endpoint, async () => {
      if (listeners.get(endpoint) !== undefined || listeners.stopping) return
      const policy = await readPolicy(store.db, endpoint)
      const mapping = createMapping(databases)
      const opened = listeners.create(readAddress(endpoint), mapping, 0, policy)
      let revision: number | undefined
      try {
        if (opened.state !== 'closed') await opened.open()
        if (!listeners.stopping) revision = await confirmProposal(store, proposal, record)
      } finally {
        if (revision === undefined) opened.close()
      }
      if (revision === undefined) return
      const desired = { databases, revision, policy }
      await reconciler.reconcile(opened.name, { desired, opened })
    })
  }

  return {
    async openElsewhere(proposal, expected, openFailure) {
      if (!peers.any) throw openFailure
      const { endpoint } = proposal
      const id = await propose(store, { ...proposal, node: peers.node }, expected)
      const until = performance.now() + PROPOSAL_TIMEOUT
      if (id === undefined) {
        if (await waitForEndpoint(endpoint, until)) return 'exists'
        throw openFailure
      }
      if (!(await waitForConfirmation(endpoint, id, until))) throw openFailure
      await reconcile(endpoint)
      return 'opened'
    },
    async openProposals() {
      for (const proposal of await readProposals(store)) {
        if (proposal.node !== peers.node) void openProposal(proposal).catch(() => {})
      }
    },
    onPeersChanged() {
      for (const listener of listeners.listed()) {
        if (listener.state !== 'failed' && listener.state !== 'elsewhere') continue
        const before = listener.state
        listener.reevaluate()
        // The node that held the port has released it or has died.
        if (before === 'elsewhere' && listener.state === 'failed') {
          void reconciler.retry(listener).catch(() => {})
        }
      }
    },
  }
}

/** Whether an address that cannot be opened here is served by another node. */
export function runsElsewhere(peers: Peers | undefined, address: Address, { cause }: Failure) {
  if (peers === undefined || !peers.any) return false
  const code = systemCode(cause)
  return code === 'EADDRNOTAVAIL' || (code === 'EADDRINUSE' && peers.listenOnThisHost(address))
}
