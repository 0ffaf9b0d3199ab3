import { setTimeout as pause } from 'node:timers/promises'
import type { Logger } from 'pino'
import { type Address, formatAddress } from '../contract/address.ts'
import type { Actor } from '../contract/audit.ts'
import { SYSTEM_DATABASE } from '../contract/database.ts'
import type { EndpointInput, EndpointRecord } from '../contract/endpoint.ts'
import type { LiveEvent } from '../contract/event.ts'
import { SAMPLE_SECONDS } from '../contract/traffic.ts'
import { Failure, systemCode } from '../failure.ts'
import type { Store } from '../storage/open.ts'
import type { Recorder } from '../storage/recorder.ts'
import { canonicalAddress, readAddress } from './address.ts'
import type { Certificate } from './certificate.ts'
import { clash } from './clash.ts'
import { createConnectionLimit, openFilesLimit } from './connection-limit.ts'
import type { HttpEngine } from './http-engine.ts'
import { createKeyedLock } from './keyed-lock.ts'
import { Listener } from './listener.ts'
import { createMapping, type Mapping, reaches } from './mapping.ts'
import type { Asked, Peers } from './peers.ts'
import {
  confirmProposal,
  outcomeOf,
  type Proposal,
  propose,
  readProposals,
  withdrawProposal,
} from './proposals.ts'
import {
  deleteEndpoint,
  type EndpointChange,
  type ExpectedRevision,
  readChangedEndpoints,
  readEndpoint,
  readEndpoints,
  requireRevision,
  type StoredEndpoint,
  writeEndpoint,
} from './repository.ts'
import { lastSampleAt } from './traffic-history.ts'
import { createWaysIn } from './ways-in.ts'

/** The endpoints of this node: what is configured, and the listeners that carry it out. */
export interface EndpointRegistry {
  /** Every endpoint, sorted by address. */
  list(): EndpointRecord[]
  /** Whether an endpoint has that host in its address. */
  hasHost(host: string): boolean
  /** Every listener, sorted by address; those that still drain stand behind their successors. */
  listeners(): Listener[]
  /**
   * Opens and stores an endpoint, or replaces the mapping of one that exists (touching no socket).
   * When it resolves, the change is durable and in effect; when it rejects, nothing is left behind.
   *
   * @throws Failure: what the body or the system refuses, `conflict` for the last way to `_system`,
   * `precondition-failed`, `unavailable`.
   */
  add(input: EndpointInput, actor: Actor, expected?: ExpectedRevision): Promise<void>
  /**
   * Removes an endpoint: durably, then no connection is accepted any more, then it drains.
   *
   * @throws Failure `endpoint-not-found`, `conflict`, `precondition-failed`, `unavailable`.
   */
  remove(address: string, actor: Actor, expected?: ExpectedRevision): Promise<void>
  /** Opens what is stored; what cannot be opened is `failed` or `elsewhere`, and tried again. */
  restore(): Promise<void>
  /**
   * Stores an endpoint given at the start and opens it if it can; never changes one that is there.
   * `strict`: what cannot be opened is not stored, and the reason is thrown.
   */
  ensure(address: Address, actor: Actor, strict: boolean): Promise<void>
  /**
   * Follows what another process has changed in the store. When it resolves, every listener has the
   * stored mapping and removed endpoints are closed; new endpoints may still be opening.
   *
   * @returns the revision that was followed.
   */
  sync(): Promise<number>
  /** Looks anew at what runs elsewhere, after other nodes have come, gone or changed. */
  lookAround(): void
  /**
   * Tries a failed listener now, instead of when its pause ends; on every node where it has failed.
   * Where it listens by now nothing is done.
   *
   * @throws Failure `endpoint-not-found`; `conflict` where it is `elsewhere`; why it failed again
   * here; `unavailable`.
   */
  retry(address: string): Promise<void>
  /**
   * Cuts what is left of a draining listener, on every node.
   *
   * @throws Failure `endpoint-not-found` where none drains; `unavailable`.
   */
  closeDraining(address: string): Promise<void>
  /** Does what another node has asked for a listener of this one; one that is gone needs nothing. */
  obey(id: number, asked: Asked): void
  /** Ends a sampling period of every listener; to be called every {@link SAMPLE_SECONDS}. */
  sample(now: number): void
  /** The number of the sample that ended last (see `traffic-history.ts`). */
  lastSample(): number
  /** Drains everything, `grace` ms at most. Called again, it can only bring the cut forward. */
  stop(grace: number): Promise<void>
}

/** What an {@link EndpointRegistry} is made of. */
export interface EndpointRegistryDeps {
  readonly store: Store
  /** Puts each change on record, in the change's own transaction. */
  readonly record: Recorder
  readonly engine: HttpEngine<Listener>
  readonly certificate: Certificate | undefined
  readonly publish: (event: LiveEvent) => void
  /** How long a removed endpoint drains, ms. */
  readonly grace: number
  /** The other nodes of the store; undefined where there can be none. */
  readonly peers?: Peers | undefined
  /** Folders in which no socket may be created: those of the store and of keys. */
  readonly reservedFolders?: readonly string[]
  /** Records when listeners open, fail and close. */
  readonly log?: Pick<Logger, 'info' | 'error'>
  /** How many files this process may have open; by default what the system says. */
  readonly openFiles?: number
}

/** Pauses between attempts to open a failed endpoint, ms: doubled each time from first to longest. */
const RETRY = { first: 1_000, longest: 60_000 }

/** Between attempts to open what runs elsewhere, ms: an address may come to this machine. */
const RETRY_ELSEWHERE = 5_000

/** Time within which other nodes have reported what they listen on, ms. */
const REPORTED = 1_000

/** How long an endpoint that cannot be opened here waits for a node that can, ms. */
const PROPOSED = 2_000

/** How often it is asked what has become of it, ms. */
const PROPOSED_LOOK = 50

/** Maximum time that a sync waits for new endpoints to open, ms. */
const OPENING = 500

/**
 * Makes an {@link EndpointRegistry} with nothing open. It is one file because its parts share one
 * invariant: what is listed, what is stored and what listens change together or not at all.
 */
export function createEndpointRegistry(deps: EndpointRegistryDeps): EndpointRegistry {
  const { store, record, publish, peers } = deps
  const entries = new Map<string, Listener>()
  // How many endpoints have that host in their address: a request may ask, so nothing is searched.
  const hosts = new Map<string, number>()
  const draining = new Set<Listener>()
  const ways = createWaysIn()
  const exclusively = createKeyedLock()
  const retries = new Map<Listener, { timer: NodeJS.Timeout; pause: number }>()
  const limit = createConnectionLimit(deps.openFiles ?? openFilesLimit(), () => entries.size)
  let stopped = false
  // Every change up to this revision has been followed.
  let followedTo = 0
  let lastSample = lastSampleAt(Date.now())

  const create = (address: Address, mapping: Mapping, revision: number) =>
    new Listener(address, mapping, revision, {
      engine: deps.engine,
      certificate: deps.certificate,
      limit,
      reservedFolders: deps.reservedFolders,
      changed(listener) {
        // One that is not listed yet, or no more, is the business of whoever opens or drains it.
        if (entries.get(listener.name) === listener) {
          ways.look(listener)
          if (listener.state === 'failed' || listener.state === 'elsewhere') scheduleRetry(listener)
          if (listener.state === 'listening') retries.delete(listener)
          logState(listener)
          peers?.report(listener)
        }
        publish({ type: 'listener', endpoint: listener.name })
      },
      runsElsewhere: (where, { cause }) => {
        if (peers === undefined || !peers.any) return false
        const code = systemCode(cause)
        return code === 'EADDRNOTAVAIL' || (code === 'EADDRINUSE' && peers.holdHere(where))
      },
    })

  function logState(listener: Listener): void {
    const { name, state } = listener
    if (state === 'listening') deps.log?.info({ endpoint: name }, 'listening')
    if (state === 'elsewhere') deps.log?.info({ endpoint: name }, 'runs on another node')
    if (state !== 'failed') return
    const logFailure = () => {
      if (listener.state !== 'failed' || entries.get(name) !== listener) return
      const reason = listener.error?.message
      deps.log?.error({ endpoint: name, reason }, 'endpoint could not be opened')
    }
    // Another node may hold the port, and its report may still be under way.
    if (peers?.any) setTimeout(logFailure, REPORTED).unref()
    else logFailure()
  }

  function countHost({ address }: Listener, by: 1 | -1): void {
    if (address.scheme === 'unix') return
    const count = (hosts.get(address.host) ?? 0) + by
    if (count === 0) hosts.delete(address.host)
    else hosts.set(address.host, count)
  }

  const list = (listener: Listener) => {
    entries.set(listener.name, listener)
    countHost(listener, 1)
    ways.look(listener)
    peers?.report(listener)
    // Opening it took until after the stop.
    if (stopped) void listener.drain(0)
  }

  function unlist(listener: Listener): void {
    if (entries.get(listener.name) !== listener) return
    entries.delete(listener.name)
    countHost(listener, -1)
    ways.forget(listener)
    clearTimeout(retries.get(listener)?.timer)
    retries.delete(listener)
    publish({ type: 'endpoint', endpoint: listener.name, revision: null })
    draining.add(listener)
    const drained = listener.drain(deps.grace)
    deps.log?.info({ endpoint: listener.name }, 'endpoint removed, draining')
    peers?.report(listener)
    void drained.then(() => {
      draining.delete(listener)
      deps.log?.info({ endpoint: listener.name }, 'endpoint closed')
      peers?.forget(listener)
      publish({ type: 'listener', endpoint: listener.name })
    })
  }

  function scheduleRetry(listener: Listener): void {
    if (stopped) return
    const last = retries.get(listener)
    clearTimeout(last?.timer)
    const elsewhere = listener.state === 'elsewhere'
    const longer = last === undefined ? RETRY.first : Math.min(last.pause * 2, RETRY.longest)
    const pause = elsewhere ? RETRY_ELSEWHERE : longer
    // Spread by a tenth, so that many that failed together are not tried in one moment.
    const wait = pause * (0.9 + Math.random() * 0.2)
    const timer = setTimeout(() => void attempt(listener).catch(() => {}), wait)
    timer.unref()
    retries.set(listener, { timer, pause: elsewhere ? RETRY.first : pause })
    if (!elsewhere) listener.nextTry = Date.now() + wait
  }

  const attempt = (listener: Listener) =>
    exclusively(listener.name, async () => {
      if (entries.get(listener.name) !== listener || stopped) return
      const before = listener.state
      if (before !== 'failed' && before !== 'elsewhere') return
      try {
        await listener.open()
      } catch (error) {
        // Nothing has changed, so nobody was told.
        if (before === 'elsewhere' && listener.state === before) scheduleRetry(listener)
        throw error
      }
    })

  const write = (endpoint: string, { names }: Mapping, change: Omit<EndpointChange, 'record'>) =>
    writeEndpoint(store, { endpoint, databases: [...names] }, { record, ...change })

  /** Where nodes share the store, what counts as the last way in is judged there. */
  const guardOf = (endpoint: string): EndpointChange['guard'] =>
    peers && ((trx) => peers.requireOtherWay(trx, endpoint, ways.names()))

  async function remap(
    listener: Listener,
    mapping: Mapping,
    actor: Actor,
    expected: ExpectedRevision,
  ): Promise<void> {
    if (sameNames(listener.mapping, mapping) && peers === undefined) return
    const leaves = !reaches(mapping, SYSTEM_DATABASE)
    if (leaves && peers === undefined) ways.giveUp(listener)
    const before = listener.revision
    let revision: number
    try {
      const guard = leaves ? guardOf(listener.name) : undefined
      revision = await write(listener.name, mapping, { actor, expected, guard })
    } catch (error) {
      ways.look(listener)
      throw error
    }
    // A sync may have removed it while the answer was under way, or have given it a newer mapping.
    if (entries.get(listener.name) !== listener) return
    if (listener.revision !== before && revision < listener.revision) return
    if (revision === listener.revision) ways.look(listener)
    else setMapping(listener, mapping, revision)
  }

  function setMapping(listener: Listener, mapping: Mapping, revision: number): void {
    listener.revision = revision
    listener.mapping = mapping
    ways.look(listener)
    peers?.report(listener)
    publish({ type: 'endpoint', endpoint: listener.name, revision })
  }

  /** Opens an address and stores it; the reason, unthrown, where the address cannot be opened. */
  async function open(
    address: Address,
    mapping: Mapping,
    actor: Actor,
    expected?: ExpectedRevision,
  ): Promise<Failure | undefined> {
    const listener = create(address, mapping, 0)
    try {
      await listener.open()
    } catch (error) {
      listener.close()
      return explained(error as Failure, address)
    }
    await listStored(listener, () => write(listener.name, mapping, { actor, expected }))
    return undefined
  }

  /** Lists a listener that is open once it is stored; closes it where that is not to be. */
  async function listStored(
    listener: Listener,
    storing: () => Promise<number | undefined>,
  ): Promise<void> {
    let revision: number | undefined
    try {
      revision = await storing()
    } finally {
      if (revision === undefined) listener.close()
    }
    if (revision === undefined) return
    listener.revision = revision
    list(listener)
    logState(listener)
    publish({ type: 'endpoint', endpoint: listener.name, revision })
  }

  /** Has an address that cannot be opened here opened by another node, or throws why it cannot. */
  async function openElsewhere(
    by: Peers,
    proposal: Omit<Proposal, 'id' | 'node'>,
    expected: ExpectedRevision,
    refusal: Failure,
  ): Promise<void> {
    const { endpoint } = proposal
    const id = await propose(store, { ...proposal, node: by.node }, expected)
    const until = performance.now() + PROPOSED
    if (id === undefined) {
      // Somebody else has asked for the same: it is an endpoint by now, or will be, or will not.
      for (;;) {
        await exclusively(endpoint, () => follow(endpoint))
        if (entries.has(endpoint)) return registry.add(proposal, proposal.actor, expected)
        if (performance.now() > until) throw refusal
        await pause(PROPOSED_LOOK)
      }
    }
    for (;;) {
      const outcome = await outcomeOf(store, endpoint, id)
      if (outcome === 'configured') break
      if (outcome === 'gone') throw refusal
      if (performance.now() < until) await pause(PROPOSED_LOOK)
      else if (await withdrawProposal(store, endpoint, id)) throw refusal
    }
    await exclusively(endpoint, () => follow(endpoint))
  }

  /** Opens what another node was asked for and cannot open itself, if this one can. */
  const takeUp = (proposal: Proposal) =>
    exclusively(proposal.endpoint, async () => {
      if (entries.has(proposal.endpoint) || stopped) return
      const listener = create(readAddress(proposal.endpoint), createMapping(proposal.databases), 0)
      try {
        await listener.open()
      } catch {
        listener.close()
        return
      }
      if (stopped) listener.close()
      else await listStored(listener, () => confirmProposal(store, proposal, record))
    })

  /** Names the endpoint of our own that holds the port, where it is one of ours. */
  function explained(error: Failure, address: Address): Failure {
    const taken = systemCode(error.cause) === 'EADDRINUSE'
    if (!taken || address.scheme === 'unix') return error
    const holder = entries
      .values()
      .find((other) => other.state === 'listening' && clash(other.address, address))
    if (holder === undefined) return error
    return new Failure(
      'conflict',
      `Port ${address.port} is taken by the endpoint ${holder.name}. Choose another port. (EADDRINUSE)`,
      { cause: error.cause },
    )
  }

  /** Brings what runs in line with what is stored, for one address. */
  async function follow(name: string): Promise<void> {
    const stored = await readEndpoint(store, name)
    const listener = entries.get(name)
    if (stored === undefined) {
      if (listener !== undefined) unlist(listener)
    } else if (listener === undefined) {
      // A node that drains opens nothing.
      if (stopped) return
      await openStored(stored)
      publish({ type: 'endpoint', endpoint: name, revision: stored.revision })
    } else if (listener.revision !== stored.revision) {
      setMapping(listener, createMapping(stored.databases, Infinity), stored.revision)
    }
  }

  /** Removes an endpoint that is not stored any more, unless it was changed in the meantime. */
  async function followRemoval(name: string): Promise<void> {
    const listener = entries.get(name)
    if (listener === undefined) return
    const { revision } = listener
    const stored = await readEndpoint(store, name)
    if (stored === undefined && listener.revision === revision) unlist(listener)
  }

  async function openStored(stored: StoredEndpoint): Promise<void> {
    const mapping = createMapping(stored.databases, Infinity)
    const listener = create(readAddress(stored.endpoint), mapping, stored.revision)
    list(listener)
    // The reason is kept by the listener, which is `failed` and will be tried again.
    await listener.open().catch(() => {})
  }

  /**
   * Reads the endpoints that may differ here from what is stored. The store's revision goes back
   * where a backup was `restored`.
   */
  async function readDifferences() {
    const since = peers === undefined ? -1 : followedTo
    const read = await readChangedEndpoints(store, since)
    const restored = read.revision < since
    const names = new Set(entries.keys())
    for (const { endpoint } of read.changed) names.add(endpoint)
    // Where there are as many as are stored, none has gone.
    if (since >= 0 && !restored && names.size === read.total) return { ...read, restored, gone: [] }
    const all = since < 0 ? read : await readChangedEndpoints(store, -1)
    const stored = new Set(all.changed.map(({ endpoint }) => endpoint))
    return { ...all, restored, gone: [...names].filter((name) => !stored.has(name)) }
  }

  /** Gives a listener a newer mapping. An older one is from before a change of this node. */
  function adopt(listener: Listener, { databases, revision }: StoredEndpoint): void {
    if (revision > listener.revision)
      setMapping(listener, createMapping(databases, Infinity), revision)
  }

  const registry: EndpointRegistry = {
    list: () =>
      sorted(entries.values()).map(({ name, mapping }) => ({
        endpoint: name,
        databases: [...mapping.names],
      })),
    hasHost: (host) => hosts.has(host),
    listeners: () => sorted([...entries.values(), ...draining]),
    async add(input, actor, expected) {
      const address = readAddress(input.endpoint)
      const mapping = createMapping(input.databases)
      const endpoint = formatAddress(address)
      const refusal = await exclusively(endpoint, async () => {
        // What another node has just changed counts.
        if (peers !== undefined) await follow(endpoint)
        const existing = entries.get(endpoint)
        requireRevision(endpoint, existing?.revision, expected)
        if (existing === undefined) {
          if (stopped) throw isStopping()
          return open(address, mapping, actor, expected)
        }
        await remap(existing, mapping, actor, expected)
        return undefined
      })
      if (refusal === undefined) return
      if (peers === undefined || !peers.any) throw refusal
      // Not under the lock: another node may make it an endpoint meanwhile, which is followed then.
      await openElsewhere(
        peers,
        { endpoint, databases: [...mapping.names], actor },
        expected,
        refusal,
      )
    },
    async remove(text, actor, expected) {
      const name = canonicalAddress(text)
      if (name === undefined) throw notFound()
      await exclusively(name, async () => {
        if (peers !== undefined) await follow(name)
        const listener = entries.get(name)
        if (listener === undefined) throw notFound()
        requireRevision(name, listener.revision, expected)
        if (peers === undefined) ways.giveUp(listener)
        let found: boolean
        try {
          found = await deleteEndpoint(store, name, {
            record,
            actor,
            expected,
            guard: guardOf(name),
          })
        } catch (error) {
          ways.look(listener)
          throw error
        }
        unlist(listener)
        if (!found) throw notFound()
      })
    },
    async restore() {
      // A change of another node may be followed already.
      const open = (row: StoredEndpoint) =>
        exclusively(row.endpoint, async () => {
          if (!entries.has(row.endpoint)) await openStored(row)
        })
      await Promise.all((await readEndpoints(store)).map(open))
    },
    async ensure(address, actor, strict) {
      const name = formatAddress(address)
      await exclusively(name, async () => {
        if (peers !== undefined) await follow(name)
        if (entries.has(name)) return
        const refusal = await open(address, createMapping([]), actor)
        if (refusal === undefined) return
        if (strict) throw refusal
        await write(name, createMapping([]), { actor })
        await follow(name)
      })
    },
    async sync() {
      const { changed, gone, restored, revision } = await readDifferences()
      const followAll = (rows: readonly { readonly endpoint: string }[]) =>
        rows.map(({ endpoint }) => exclusively(endpoint, () => follow(endpoint)))
      if (peers === undefined || restored) {
        const different = changed.filter(
          (row) => entries.get(row.endpoint)?.revision !== row.revision,
        )
        // Each is read once more under its lock: a change of our own may have come in between.
        await Promise.all(followAll([...different, ...gone.map((endpoint) => ({ endpoint }))]))
        followedTo = revision
        return revision
      }
      // Without the locks: under one of them, a change of this node may wait for the store.
      for (const row of changed) {
        const listener = entries.get(row.endpoint)
        if (listener !== undefined) adopt(listener, row)
      }
      const [proposals] = await Promise.all([readProposals(store), ...gone.map(followRemoval)])
      for (const each of proposals) if (each.node !== peers.node) void takeUp(each).catch(() => {})
      const opening = followAll(changed.filter(({ endpoint }) => !entries.has(endpoint)))
      // A name that takes long to resolve must not keep this node from what else has changed.
      await Promise.race([Promise.all(opening), pause(OPENING)])
      followedTo = revision
      for (const each of opening) each.catch(() => void pause(OPENING).then(syncAgain))
      return revision
    },
    lookAround() {
      for (const listener of entries.values()) {
        if (listener.state !== 'failed' && listener.state !== 'elsewhere') continue
        const before = listener.state
        listener.judge()
        // The one that held the port has let go of it, or has died.
        if (before === 'elsewhere' && listener.state === 'failed') {
          void attempt(listener).catch(() => {})
        }
      }
    },
    async retry(text) {
      const name = canonicalAddress(text) ?? ''
      const listener = entries.get(name)
      if (listener === undefined) throw notFound()
      const others = (await peers?.ask(name, 'retry')) ?? 0
      // Its own next try may have come first: that is waited for, and may be all that was asked.
      if (listener.state !== 'elsewhere') await attempt(listener)
      else if (others === 0) {
        throw new Failure('conflict', `${listener.name} has not failed: it is elsewhere.`)
      }
    },
    async closeDraining(text) {
      const name = canonicalAddress(text) ?? ''
      const found = [...draining].filter((listener) => listener.name === name)
      const others = (await peers?.ask(name, 'close')) ?? 0
      if (found.length + others === 0) throw notFound()
      for (const listener of found) listener.close()
    },
    obey(id, asked) {
      const listener = [...entries.values(), ...draining].find((each) => each.id === id)
      if (asked === 'close' && listener?.state === 'draining') listener.close()
      if (asked === 'retry' && listener?.state === 'failed') void attempt(listener).catch(() => {})
    },
    sample(now) {
      lastSample = lastSampleAt(now)
      for (const listener of entries.values()) listener.sample(lastSample, SAMPLE_SECONDS)
      for (const listener of draining) listener.sample(lastSample, SAMPLE_SECONDS)
    },
    lastSample: () => lastSample,
    async stop(grace) {
      stopped = true
      for (const { timer } of retries.values()) clearTimeout(timer)
      const all = [...entries.values(), ...draining]
      await Promise.all(all.map((listener) => listener.drain(grace)))
    },
  }
  const syncAgain = () => {
    followedTo = 0
    if (!stopped) registry.sync().catch(() => {})
  }
  return registry
}

const isStopping = () =>
  new Failure('unavailable', 'This node is stopping and opens no endpoints. Try again.')

const notFound = () => new Failure('endpoint-not-found', 'endpoint not found')

const sorted = (listeners: Iterable<Listener>): Listener[] =>
  [...listeners].sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0))

const sameNames = (a: Mapping, b: Mapping): boolean =>
  a.names.length === b.names.length && a.names.every((name, at) => name === b.names[at])
