import { type Address, formatAddress, isWildcard } from '../contract/address.ts'
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
import { createConnectionLimit, openFilesLimit } from './connection-limit.ts'
import type { HttpEngine } from './http-engine.ts'
import { createKeyedLock } from './keyed-lock.ts'
import { Listener } from './listener.ts'
import { createMapping, type Mapping, reaches } from './mapping.ts'
import {
  deleteEndpoint,
  readEndpoint,
  readEndpoints,
  type StoredEndpoint,
  writeEndpoint,
} from './repository.ts'
import { lastSampleAt } from './traffic-history.ts'
import { createWaysIn } from './ways-in.ts'

/**
 * What a change asks for: a revision or `any` that exists (`If-Match`), or `none`: that there is no
 * such endpoint (`If-None-Match: *`).
 */
export type ExpectedRevision = number | 'any' | 'none' | undefined

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
  /** Opens what is stored; what cannot be opened is `failed` and tried again. */
  restore(): Promise<void>
  /**
   * Stores an endpoint given at the start and opens it if it can; never changes one that is there.
   * `strict`: what cannot be opened is not stored, and the reason is thrown.
   */
  ensure(address: Address, actor: Actor, strict: boolean): Promise<void>
  /** Reads what is stored anew, after another process has changed it, and follows. */
  sync(): Promise<void>
  /**
   * Tries a failed listener now, instead of when its pause ends.
   *
   * @throws Failure `endpoint-not-found`; `conflict` where it has not failed; why it failed again.
   */
  retry(address: string): Promise<void>
  /**
   * Cuts what is left of a draining listener.
   *
   * @throws Failure `endpoint-not-found` where none drains.
   */
  closeDraining(address: string): void
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
  /** How many files this process may have open; by default what the system says. */
  readonly openFiles?: number
}

/** Pauses between attempts to open a failed endpoint, ms: doubled each time from first to longest. */
const RETRY = { first: 1_000, longest: 60_000 }

/**
 * Makes an {@link EndpointRegistry} with nothing open. It is one file because its parts share one
 * invariant: what is listed, what is stored and what listens change together or not at all.
 */
export function createEndpointRegistry(deps: EndpointRegistryDeps): EndpointRegistry {
  const { store, record, publish } = deps
  const entries = new Map<string, Listener>()
  // How many endpoints have that host in their address: a request may ask, so nothing is searched.
  const hosts = new Map<string, number>()
  const draining = new Set<Listener>()
  const ways = createWaysIn()
  const exclusively = createKeyedLock()
  const retries = new Map<Listener, { timer: NodeJS.Timeout; pause: number }>()
  const limit = createConnectionLimit(deps.openFiles ?? openFilesLimit(), () => entries.size)
  let stopped = false
  let lastSample = lastSampleAt(Date.now())

  const create = (address: Address, mapping: Mapping, revision: number) =>
    new Listener(address, mapping, revision, {
      engine: deps.engine,
      certificate: deps.certificate,
      limit,
      changed(listener) {
        // One that is not listed yet, or no more, is the business of whoever opens or drains it.
        if (entries.get(listener.name) === listener) {
          ways.look(listener)
          if (listener.state === 'failed') scheduleRetry(listener)
          if (listener.state === 'listening') retries.delete(listener)
        }
        publish({ type: 'listener', endpoint: listener.name })
      },
    })

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
  }

  function unlist(listener: Listener): void {
    entries.delete(listener.name)
    countHost(listener, -1)
    ways.forget(listener)
    clearTimeout(retries.get(listener)?.timer)
    retries.delete(listener)
    publish({ type: 'endpoint', endpoint: listener.name, revision: null })
    draining.add(listener)
    void listener.drain(deps.grace).then(() => {
      draining.delete(listener)
      publish({ type: 'listener', endpoint: listener.name })
    })
  }

  function scheduleRetry(listener: Listener): void {
    if (stopped) return
    const last = retries.get(listener)
    clearTimeout(last?.timer)
    const pause = last === undefined ? RETRY.first : Math.min(last.pause * 2, RETRY.longest)
    // Spread by a tenth, so that many that failed together are not tried in one moment.
    const wait = pause * (0.9 + Math.random() * 0.2)
    const timer = setTimeout(() => void attempt(listener).catch(() => {}), wait)
    timer.unref()
    retries.set(listener, { timer, pause })
    listener.nextTry = Date.now() + wait
  }

  const attempt = (listener: Listener) =>
    exclusively(listener.name, async () => {
      const current = entries.get(listener.name) === listener && listener.state === 'failed'
      if (current && !stopped) await listener.open()
    })

  const write = (endpoint: string, { names }: Mapping, actor: Actor) =>
    writeEndpoint(store, { endpoint, databases: [...names] }, { record, actor })

  async function remap(listener: Listener, mapping: Mapping, actor: Actor): Promise<void> {
    if (sameNames(listener.mapping, mapping)) return
    if (!reaches(mapping, SYSTEM_DATABASE)) ways.giveUp(listener)
    try {
      listener.revision = await write(listener.name, mapping, actor)
      listener.mapping = mapping
    } finally {
      ways.look(listener)
    }
    publish({ type: 'endpoint', endpoint: listener.name, revision: listener.revision })
  }

  async function open(address: Address, mapping: Mapping, actor: Actor): Promise<void> {
    const listener = create(address, mapping, 0)
    try {
      await listener.open()
      listener.revision = await write(listener.name, mapping, actor)
    } catch (error) {
      listener.close()
      throw explained(error, address)
    }
    list(listener)
    publish({ type: 'endpoint', endpoint: listener.name, revision: listener.revision })
  }

  /** Names the endpoint of our own that holds the port, where it is one of ours. */
  function explained(error: unknown, address: Address): unknown {
    const taken = error instanceof Failure && systemCode(error.cause) === 'EADDRINUSE'
    if (!taken || address.scheme === 'unix') return error
    const holder = entries.values().find((other) => other.state === 'listening' && clash(other))
    if (holder === undefined) return error
    return new Failure(
      'conflict',
      `Port ${address.port} is taken by the endpoint ${holder.name}. Choose another port. (EADDRINUSE)`,
      { cause: error.cause },
    )

    function clash({ address: other }: Listener): boolean {
      if (address.scheme === 'unix' || other.scheme === 'unix') return false
      if (other.port !== address.port) return false
      const names = [other.host, address.host].some((host) => /[a-z]/.test(host))
      return other.host === address.host || isWildcard(other) || isWildcard(address) || names
    }
  }

  /** Brings what runs in line with what is stored, for one address. */
  async function follow(name: string): Promise<void> {
    const stored = await readEndpoint(store, name)
    const listener = entries.get(name)
    if (stored === undefined) {
      if (listener !== undefined) unlist(listener)
    } else if (listener === undefined) {
      await openStored(stored)
      publish({ type: 'endpoint', endpoint: name, revision: stored.revision })
    } else if (listener.revision !== stored.revision) {
      listener.mapping = createMapping(stored.databases)
      listener.revision = stored.revision
      ways.look(listener)
      publish({ type: 'endpoint', endpoint: name, revision: stored.revision })
    }
  }

  async function openStored(stored: StoredEndpoint): Promise<void> {
    const mapping = createMapping(stored.databases)
    const listener = create(readAddress(stored.endpoint), mapping, stored.revision)
    list(listener)
    // The reason is kept by the listener, which is `failed` and will be tried again.
    await listener.open().catch(() => {})
  }

  return {
    list: () =>
      sorted(entries.values()).map(({ name, mapping }) => ({
        endpoint: name,
        databases: [...mapping.names],
      })),
    hasHost: (host) => hosts.has(host),
    listeners: () => sorted([...entries.values(), ...draining]),
    async add(input, actor, expected) {
      const address = readAddress(input.endpoint)
      const mapping = createMapping(input.databases ?? [])
      await exclusively(formatAddress(address), async () => {
        const existing = entries.get(formatAddress(address))
        requireRevision(existing, expected)
        await (existing === undefined
          ? open(address, mapping, actor)
          : remap(existing, mapping, actor))
      })
    },
    async remove(text, actor, expected) {
      const name = canonicalAddress(text)
      if (name === undefined) throw notFound()
      await exclusively(name, async () => {
        const listener = entries.get(name)
        if (listener === undefined) throw notFound()
        requireRevision(listener, expected)
        ways.giveUp(listener)
        try {
          await deleteEndpoint(store, name, { record, actor })
        } catch (error) {
          ways.look(listener)
          throw error
        }
        unlist(listener)
      })
    },
    async restore() {
      await Promise.all((await readEndpoints(store)).map(openStored))
    },
    async ensure(address, actor, strict) {
      const name = formatAddress(address)
      await exclusively(name, async () => {
        if (entries.has(name)) return
        try {
          await open(address, createMapping([]), actor)
        } catch (error) {
          if (strict) throw error
          await write(name, createMapping([]), actor)
          await follow(name)
        }
      })
    },
    async sync() {
      const stored = new Map(
        (await readEndpoints(store)).map((row) => [row.endpoint, row.revision]),
      )
      const different = [...new Set([...stored.keys(), ...entries.keys()])].filter(
        (name) => stored.get(name) !== entries.get(name)?.revision,
      )
      // Each is read once more under its lock: a change of our own may have come in between.
      await Promise.all(different.map((name) => exclusively(name, () => follow(name))))
    },
    async retry(text) {
      const listener = entries.get(canonicalAddress(text) ?? '')
      if (listener === undefined) throw notFound()
      if (listener.state !== 'failed') {
        throw new Failure('conflict', `${listener.name} has not failed: it is ${listener.state}.`)
      }
      await attempt(listener)
    },
    closeDraining(text) {
      const name = canonicalAddress(text)
      const found = [...draining].filter((listener) => listener.name === name)
      if (found.length === 0) throw notFound()
      for (const listener of found) listener.close()
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
}

const notFound = () => new Failure('endpoint-not-found', 'endpoint not found')

const sorted = (listeners: Iterable<Listener>): Listener[] =>
  [...listeners].sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0))

const sameNames = (a: Mapping, b: Mapping): boolean =>
  a.names.length === b.names.length && a.names.every((name, at) => name === b.names[at])

function requireRevision(listener: Listener | undefined, expected: ExpectedRevision): void {
  if (expected === undefined || (expected === 'none' && listener === undefined)) return
  if (expected === 'none') {
    throw new Failure('precondition-failed', `There is an endpoint ${listener?.name} already.`)
  }
  if (listener !== undefined && (expected === 'any' || expected === listener.revision)) return
  throw new Failure(
    'precondition-failed',
    listener === undefined
      ? 'The endpoint does not exist any more.'
      : 'The endpoint has been changed in the meantime. Look at it again.',
  )
}
