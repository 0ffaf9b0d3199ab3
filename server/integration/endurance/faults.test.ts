import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type NodeProcess, startNodes } from '../../nodes/integration/node-processes.testing.ts'
import { openStore } from '../../storage/open.ts'
import {
  type OwnPostgres,
  startOwnPostgres,
} from '../../storage/test-support/postgres-server.testing.ts'
import {
  COMMIT_BYTES,
  startTcpProxy,
  type TcpProxy,
} from '../../storage/test-support/tcp-proxy.testing.ts'
import { killProcesses } from '../../test-support/server-process.testing.ts'
import { type Call, createDocumentWriter, readAll } from './document-writer.testing.ts'
import { createRevoker, type StoredSession } from './revoked-credentials.testing.ts'
import { FAULTS, randomNumbers, SEED } from './settings.testing.ts'
import { storePerson, storeSession } from './stored-people.testing.ts'

// Two nodes connect to one PostgreSQL through separate proxies while clients change documents and
// revoke tokens and sessions. The test causes faults of nodes and their clocks, of PostgreSQL and of
// connections, one after the other. `npm run test:endurance` causes more of them.

/** Number of clients per node. */
const CLIENTS = 3

/** Minimum number of acknowledged changes of documents between two faults. */
const PROGRESS = 10

/** Number of faults between comparisons of the stored documents. */
const COMPARE = 10

/** How long a client waits after a request without a response, ms. */
const RETRY_DELAY = 20

/** Number of sessions that are revoked; after that, only tokens are. */
const SESSIONS = 5 * FAULTS

/** Lets SIGUSR2 set the clock of a node. */
const SETTABLE_CLOCK = fileURLToPath(
  new URL('../../test-support/settable-clock.testing.ts', import.meta.url),
)

/** Maximum time of a fault on a busy machine, ms. */
const FAULT = 30_000

let server: OwnPostgres
let proxies: TcpProxy[]
let nodes: NodeProcess[]
let sessions: StoredSession[]

beforeAll(async () => {
  server = await startOwnPostgres()
  proxies = [await startTcpProxy(server.port), await startTcpProxy(server.port)]
  const urls = proxies.map(({ port }) => `postgres://gatehouse@127.0.0.1:${port}/postgres`)
  nodes = await startNodes(urls, ['a', 'b'], [], ['--import', SETTABLE_CLOCK])
  const store = await openStore({ databaseUrl: server.url }, 'tool')
  const person = await storePerson(store, 'revoked', 'operator')
  sessions = []
  while (sessions.length < SESSIONS) {
    sessions.push({ person, ...(await storeSession(store, person)) })
  }
  await store.close()
})
afterAll(async () => {
  await killProcesses()
  for (const proxy of proxies) await proxy.close()
  await server.remove()
})

/** Causes a fault. Returns the function that ends it. */
type Fault = (random: (end: number) => number) => Promise<() => unknown>

const any = <T>(list: readonly T[], random: (end: number) => number): T =>
  list[random(list.length)] as T

/** Waits a random time below `most` ms. */
const last = (random: (end: number) => number, most: number) => pause(random(most))

/**
 * Reads from a node and retries on 503: connections that a fault broke silently are detected by the
 * first request that uses them.
 */
const readWithRetry =
  (node: NodeProcess): Call =>
  async (method, path) => {
    let response = await node.request(method, path)
    await expect
      .poll(async () => {
        if (response.status === 503) response = await node.request(method, path)
        return response.status
      })
      .not.toBe(503)
    return response
  }

const faults: readonly (readonly [string, Fault])[] = [
  [
    'a node is suspended',
    async (random) => {
      const { process } = any(nodes, random)
      process.signal('SIGSTOP')
      await last(random, 4_000)
      return () => process.signal('SIGCONT')
    },
  ],
  [
    'a node is killed',
    async (random) => {
      const node = any(nodes, random)
      await node.end('SIGKILL')
      return () => node.start()
    },
  ],
  [
    'the clock of a node is set',
    async (random) => {
      const { process } = any(nodes, random)
      process.signal('SIGUSR2')
      await last(random, 3_000)
      return () => process.signal('SIGUSR2')
    },
  ],
  [
    'PostgreSQL crashes',
    async (random) => {
      await server.stop('SIGKILL')
      await last(random, 2_000)
      return () => server.start()
    },
  ],
  [
    'PostgreSQL is stopped',
    async (random) => {
      await server.stop('SIGINT')
      await last(random, 2_000)
      return () => server.start()
    },
  ],
  [
    'PostgreSQL is suspended',
    async (random) => {
      const thaw = server.freeze()
      await last(random, 3_000)
      return thaw
    },
  ],
  [
    'the connections of a node are cut',
    async (random) => {
      const proxy = any(proxies, random)
      for (let n = random(3); n >= 0; n--) {
        proxy.cut()
        await last(random, 200)
      }
      return () => {}
    },
  ],
  [
    'the packets of a node are lost',
    async (random) => {
      const proxy = any(proxies, random)
      proxy.swallow()
      await last(random, 3_000)
      return () => proxy.heal()
    },
  ],
  [
    'a node is slowed by 200 ms',
    async (random) => {
      const proxy = any(proxies, random)
      proxy.delay(200)
      await last(random, 3_000)
      return () => proxy.delay(0)
    },
  ],
  [
    'the answer to a commit is lost',
    async (random) => {
      const how = any(['cut', 'silence'] as const, random)
      await any(proxies, random).loseAnswerTo(COMMIT_BYTES, how)
      return () => {}
    },
  ],
  [
    'a commit is lost',
    async (random) => {
      await any(proxies, random).loseRequest(COMMIT_BYTES)
      return () => {}
    },
  ],
]

test(`after each of ${FAULTS} faults, acknowledged changes exist and revoked credentials are rejected`, {
  timeout: 120_000 + FAULTS * FAULT,
}, async () => {
  const random = randomNumbers(SEED)
  const writers = nodes.flatMap((node) =>
    Array.from({ length: CLIENTS }, (_, at) => ({
      call: ((method, path, body) =>
        node.request(method, path, body, { once: true })) satisfies Call,
      writer: createDocumentWriter(`${node.name}${at}`, randomNumbers(SEED + random(1_000_000))),
    })),
  )
  const revoker = createRevoker(nodes, sessions, randomNumbers(SEED))
  const acknowledged = () => writers.reduce((sum, { writer }) => sum + writer.acknowledged, 0)
  let over = false
  let failure: unknown
  /** Repeats a change until a comparison. `change` returns whether it was acknowledged. */
  const repeat = async (change: () => Promise<boolean>) => {
    try {
      while (!over) if (!(await change())) await pause(RETRY_DELAY)
    } catch (error) {
      failure ??= error
    }
  }
  const progress = async () => {
    const before = { changes: acknowledged(), revocations: revoker.acknowledged }
    const isEnough = () =>
      acknowledged() > before.changes + PROGRESS && revoker.acknowledged > before.revocations
    await expect.poll(() => failure !== undefined || isEnough()).toBe(true)
    if (failure !== undefined) throw failure
  }
  const ready = async (node: NodeProcess) =>
    (
      await node
        .request('GET', '/_api/health/ready', undefined, { once: true })
        .catch(() => undefined)
    )?.status

  const done: string[] = []
  try {
    for (let left = FAULTS; left > 0; ) {
      over = false
      const writing = [
        ...writers.map(({ call, writer }) => repeat(() => writer.write(call))),
        repeat(revoker.revokeOne),
      ]
      for (const until = Math.max(0, left - COMPARE); left > until; left--) {
        await progress()
        // Cause each kind once before choosing at random.
        const [name, cause] = faults[done.length] ?? any(faults, random)
        done.push(name)
        const end = await cause(random)
        await end()
        for (const node of nodes) await expect.poll(() => ready(node)).toBe(200)
      }
      await progress()
      over = true
      await Promise.all(writing)
      if (failure !== undefined) throw failure
      for (const node of nodes) {
        const stored = await readAll(readWithRetry(node))
        for (const { writer } of writers) writer.check(stored, false)
      }
    }
  } catch (error) {
    throw new Error(`Fault ${done.length}, seed ${SEED}: ${done.slice(-COMPARE).join(', ')}`, {
      cause: error,
    })
  } finally {
    over = true
  }
})
