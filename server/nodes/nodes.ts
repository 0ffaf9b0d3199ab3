import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import type { ListenerStatus } from '../contract/listener.ts'
import type { NodeStatus } from '../contract/node.ts'
import { Failure } from '../failure.ts'
import type { Store } from '../storage/open.ts'
import { DEAD_AFTER } from './alive.ts'
import { createFollower } from './follower.ts'
import {
  type Asked,
  createNodeRepository,
  type Identity,
  type OtherNode,
  type ReportedListener,
} from './repository.ts'

/** How often a node says that it is alive and what went through its listeners, ms. */
const HEARTBEAT = 3_000

/** Changes of listeners that come within this are reported together, ms. */
const GATHER = 5

/** How long a start waits for the name, which a killed node before it may still have, ms. */
const NAME_PATIENCE = 3_000

/** An answer that took no longer than this tells what time it is, ms: a long round trip, and some. */
const PROMPT = 1_500

/** This node among those that share its store. */
export interface Nodes {
  /** The name of this one. */
  readonly name: string
  /** Whether others live. */
  readonly any: boolean
  /** The time by the clock of the store, as this node knows it, ms since 1970: the same for all. */
  now(): number
  /** What the listeners of the others do, as last heard; those of dead ones say since when. */
  others(): ListenerStatus[]
  /** The others themselves, as last heard; for ten minutes also those that died. */
  peers(): readonly NodeStatus[]
  /** Another number after each news of others. */
  readonly news: number
  /** The listeners of living nodes on this machine. */
  here(): Iterable<ListenerStatus>
  /** Reports a listener, soon; `status` tells how it is, now and at later heartbeats. */
  report(id: number, status: () => ListenerStatus): void
  /** Reports that a listener is no more. */
  forget(id: number): void
  /** Asks the others that have such a listener to do something with it; how many that are. */
  ask(address: string, what: Asked): Promise<number>
  /** Begins to report and to listen. @throws Failure `conflict` where another has the name. */
  start(): Promise<void>
  /** Takes this node out, so that the others need not wait until it counts as dead. */
  stop(): Promise<void>
}

/** What {@link Nodes} are made of. */
export interface NodesDeps {
  readonly store: Store
  readonly name: string
  /** See `place.ts`. */
  readonly place: string
  /** Called for each endpoint of which a listener of another node has changed. */
  readonly changed: (endpoint: string) => void
  /** Called after other nodes have come, gone or changed their listeners. */
  readonly lookAround: () => void
  /** Called when another node asks for something. */
  readonly obey: (id: number, asked: Asked) => void
  /** Called at each heartbeat, for what one of the nodes is to look after. */
  readonly onHeartbeat: () => Promise<void>
  readonly onError: (error: unknown) => void
}

interface Known {
  readonly node: OtherNode
  readonly listeners: Map<number, ListenerStatus>
  /** When it was last heard of, ms since 1970. */
  readonly heardAt: number
}

/** What is known of a node's listeners; what drained when it fell silent is nothing to know. */
function* told({ listeners, heardAt }: Known): Generator<ListenerStatus> {
  if (Date.now() - heardAt < DEAD_AFTER) return yield* listeners.values()
  const silentSince = new Date(heardAt).toISOString()
  for (const status of listeners.values()) {
    if (status.state !== 'draining') yield { ...status, silentSince }
  }
}

/**
 * Makes {@link Nodes}. Nodes know each other by two tables alone: each writes a row that says that it
 * lives, and a row for each of its listeners when that changes; the others read what is newer than what
 * they have. What is idle is not written again.
 */
export function createNodes(deps: NodesDeps): Nodes {
  const repository = createNodeRepository(deps.store)
  const me: Identity = { name: deps.name, run: randomUUID(), place: deps.place }
  const own = new Map<number, { readonly status: () => ListenerStatus; told: string }>()
  const changed = new Set<number>()
  const gone = new Set<number>()
  let known = new Map<string, Known>()
  let heard: readonly NodeStatus[] = []
  // Apart from those that live: nothing counts on them, but people ask where they are.
  let dead = new Map<string, Known>()
  let news = 0
  let ahead = 0
  let started = false
  let timers: NodeJS.Timeout[] = []
  let gathering: NodeJS.Timeout | undefined
  let unsubscribe = () => {}
  // Whether the next report is one of a heartbeat, which looks at the traffic of all listeners.
  let beats = false

  const reporter = createFollower(flush)
  const reader = createFollower(read)

  /** What is worth telling even where the state is the same. */
  const traffic = ({
    connections,
    requests,
    bytesIn,
    bytesOut,
    requestsPerSecond,
  }: ListenerStatus) => [connections, requests, bytesIn, bytesOut, requestsPerSecond].join()

  async function flush(): Promise<void> {
    const loud = changed.size + gone.size > 0
    const reported: ReportedListener[] = []
    for (const id of beats ? own.keys() : changed) {
      const listener = own.get(id)
      if (listener === undefined) continue
      const status = listener.status()
      const told = traffic(status)
      if (!changed.has(id) && told === listener.told) continue
      listener.told = told
      reported.push({ id, status })
    }
    beats = false
    const left = [...gone]
    let owed = [...changed, ...reported.map(({ id }) => id)]
    changed.clear()
    gone.clear()
    try {
      if (await timed(repository.report(me, reported, left, own.size, loud))) return
      // What was told before goes with it, also where the rest does not arrive.
      owed = [...own.keys()]
      await register()
      await repository.report(me, reportAll(), [], own.size, true)
    } catch (error) {
      // All of it is told again; what has gone in between is found missing by its number.
      for (const id of owed) if (own.has(id)) changed.add(id)
      for (const id of left) gone.add(id)
      throw error
    }
  }

  /** Sets our time by that of the store; false where there is none. */
  async function timed(saying: Promise<number | undefined>): Promise<boolean> {
    const asked = performance.now()
    const time = await saying
    // What took long to answer, or to be heard, says little of now.
    if (time !== undefined && performance.now() - asked < PROMPT) ahead = time - Date.now()
    return time !== undefined
  }

  const reportAll = (): ReportedListener[] =>
    [...own].map(([id, { status }]) => ({ id, status: status() }))

  async function register(): Promise<void> {
    const until = performance.now() + NAME_PATIENCE
    for (;;) {
      const free = await deps.store.hold(`node ${me.name}`)
      if (await timed(repository.register(me, free))) return
      // A process that was killed a moment ago has not yet been missed by the server.
      if (started || performance.now() > until) break
      await pause(100)
    }
    throw new Failure(
      'conflict',
      `Another node of this store is named ${me.name}. Give each its own name, with --node.`,
    )
  }

  async function read(): Promise<void> {
    const rows = await repository.others(me.name)
    heard = rows.map(toStatus)
    const nextKnown = new Map<string, Known>()
    const nextDead = new Map<string, Known>()
    const touched = new Set<string>()
    for (const node of rows) {
      const [before, next] =
        node.silence < DEAD_AFTER
          ? [known.get(node.name), nextKnown]
          : [dead.get(node.name), nextDead]
      next.set(node.name, await bringUpToDate(before, node, touched))
    }
    for (const [before, next] of [
      [known, nextKnown],
      [dead, nextDead],
    ] as const) {
      for (const [name, { listeners }] of before) {
        if (!next.has(name)) for (const { endpoint } of listeners.values()) touched.add(endpoint)
      }
    }
    const others =
      known.size !== nextKnown.size || [...nextKnown.keys()].some((name) => !known.has(name))
    known = nextKnown
    dead = nextDead
    if (others || touched.size > 0) {
      news++
      deps.lookAround()
    }
    for (const endpoint of touched) deps.changed(endpoint)
    for (const { id, asked } of await repository.asked(me.name)) deps.obey(id, asked)
  }

  async function readAll(node: OtherNode, touched: Set<string>): Promise<Known> {
    const rows = await repository.listenersOf(node.name, -1)
    for (const { status } of rows) touched.add(status.endpoint)
    const listeners = new Map(rows.map(({ id, status }) => [id, status]))
    return { node, listeners, heardAt: Date.now() - node.silence }
  }

  async function bringUpToDate(
    before: Known | undefined,
    node: OtherNode,
    touched: Set<string>,
  ): Promise<Known> {
    if (before?.node.run !== node.run || before.node.report > node.report) {
      return readAll(node, touched)
    }
    const { listeners } = before
    const next = { node, listeners, heardAt: Date.now() - node.silence }
    if (before.node.report === node.report) return next
    for (const { id, status } of await repository.listenersOf(node.name, before.node.report)) {
      const was = listeners.get(id)
      if (was?.state !== status.state || was.revision !== status.revision) {
        touched.add(status.endpoint)
      }
      listeners.set(id, status)
    }
    if (listeners.size === node.listeners) return next
    // Some are gone, of which there is no row that could say so.
    for (const { endpoint } of listeners.values()) touched.add(endpoint)
    return readAll(node, touched)
  }

  const underWay = new Set<Promise<void>>()

  function quietly(work: Promise<void>): Promise<void> {
    const done = work.catch(deps.onError).finally(() => underWay.delete(done))
    underWay.add(done)
    return done
  }

  function gather(): void {
    if (!started) return
    gathering ??= setTimeout(() => {
      gathering = undefined
      void quietly(reporter.follow())
    }, GATHER)
  }

  /** One heartbeat. A step that fails, such as a report to a read-only store, does not skip the next. */
  async function beat(): Promise<void> {
    beats = true
    await quietly(reporter.follow())
    await quietly(reader.follow())
    await quietly(repository.forgetDead())
    await deps.onHeartbeat()
  }

  return {
    name: me.name,
    get any() {
      return known.size > 0
    },
    now: () => Date.now() + ahead,
    get news() {
      return news
    },
    others: () => [...known.values(), ...dead.values()].flatMap((each) => [...told(each)]),
    peers: () => heard,
    *here() {
      for (const { node, listeners } of known.values()) {
        if (node.place === me.place) yield* listeners.values()
      }
    },
    report(id, status) {
      own.set(id, { status, told: own.get(id)?.told ?? '' })
      changed.add(id)
      gather()
    },
    forget(id) {
      if (!own.delete(id)) return
      changed.delete(id)
      gone.add(id)
      gather()
    },
    ask: (address, what) => repository.ask(me.name, address, what),
    async start() {
      await register()
      await reader.follow()
      started = true
      unsubscribe = deps.store.onNotice((topic) => {
        if (topic === 'nodes' || topic === 'all') void quietly(reader.follow())
        // The lock by which the name is held went with the connection.
        if (topic === 'all') void quietly(deps.store.hold(`node ${me.name}`).then(() => {}))
      })
      gather()
      let beating = false
      timers = [
        setInterval(() => {
          if (beating) return
          beating = true
          void quietly(beat()).finally(() => {
            beating = false
          })
        }, HEARTBEAT),
      ]
    },
    async stop() {
      unsubscribe()
      started = false
      timers.forEach(clearInterval)
      clearTimeout(gathering)
      // Whoever stops it closes the store next, which none of them may find closed.
      await Promise.allSettled(underWay)
      await quietly(repository.leave(me))
    },
  }
}

const toStatus = ({ name, silence }: OtherNode): NodeStatus => ({
  name,
  own: false,
  state: silence < DEAD_AFTER ? 'alive' : 'silent',
  seen: new Date(Date.now() - silence).toISOString(),
})
