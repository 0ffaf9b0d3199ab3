import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { afterAll, afterEach, beforeAll, expect, inject, test, vi } from 'vitest'
import { type BundledServer, bundleServer } from './bundle-server.testing.ts'
import type { EndpointRecord } from './contract/endpoint.ts'
import { freePorts } from './endpoints/free-ports.testing.ts'
import { expectListening } from './endpoints/kernel-sockets.testing.ts'
import { createDocumentWriter, readAll } from './endurance/document-writer.testing.ts'
import { KILLS, randomNumbers, SEED } from './endurance/settings.testing.ts'
import { killProcesses, MAIN, type ServerProcess, startProcess } from './server-process.testing.ts'
import { ask, endpointPath, makeToken } from './start.testing.ts'
import { forEachEngine } from './storage/each-engine.testing.ts'
import type { StoreLocation } from './storage/open.ts'

// Every round is one life of a server: it is started on what the last one left, looked at, changed
// by several clients at once (endpoints and documents), and killed (SIGKILL) in the middle of that.
// To make so many starts cheap the rounds run the server out of one file, made of the same sources;
// the last start is `node server/main.ts` itself. `npm run test:endurance` makes more rounds.

/**
 * How many stores each engine gets, side by side, and how many rounds each store: what the engines
 * have in common is proven on the cheaper one.
 */
const STORES = {
  sqlite: { count: 4, rounds: Math.ceil(KILLS / 4) },
  postgres: { count: 1, rounds: Math.max(5, Math.ceil(KILLS / 10)) },
}

/** Maximum time of a round on a busy machine, ms. */
const ROUND = 20_000

/** What a server must be given where it has no data folder of its own. */
const SECRETS = {
  GATEHOUSE_OPERATOR_KEY: 'operator-key-of-the-tests-and-nothing-else',
  GATEHOUSE_SECRET_KEY: Buffer.alloc(32, 1).toString('base64'),
}

/** Changing at the same time, each its own endpoints. */
const CLIENTS = 6

/** Changing at the same time, each its own documents. */
const WRITERS = 3
const PORTS_EACH = 3

/** What is known of an endpoint: its databases, that there is none, or one of two things. */
type Known = { readonly sure: string } | { readonly either: readonly [string, string] }

/** Stands for an endpoint that is not there. */
const ABSENT = 'absent'

let folder: string
let bundle: BundledServer

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'gatehouse-kill-'))
  bundle = await bundleServer(folder)
})

afterEach(killProcesses)
afterAll(() => rmSync(folder, { recursive: true, force: true }))

forEachEngine((engine) => {
  const { count, rounds } = STORES[engine.name]

  test(
    `after each of ${count * rounds} kills, endpoints, sockets and documents are what was acknowledged`,
    async () => {
      const ports = await freePorts(count * CLIENTS * PORTS_EACH)
      await Promise.all(
        Array.from({ length: count }, (_, at) => {
          const location = engine.location()
          const own = ports.slice(at * CLIENTS * PORTS_EACH, (at + 1) * CLIENTS * PORTS_EACH)
          return live(
            'data' in location ? { data: join(location.data, `store-${at}`) } : location,
            own.map((port) => `tcp://127.0.0.1:${port}`),
            rounds,
            randomNumbers(SEED + at),
          )
        }),
      )
    },
    120_000 + rounds * ROUND,
  )
})

/** The rounds of one store, with these addresses to add and remove. */
async function live(
  location: StoreLocation,
  addresses: readonly string[],
  rounds: number,
  random: (end: number) => number,
): Promise<void> {
  const socketPath = join(mkdtempSync(join(folder, 'run-')), 'admin.sock')
  const admin = `unix://${socketPath}`
  const store =
    'data' in location ? ['--data', location.data] : ['--database-url', location.databaseUrl]
  const known = new Map<string, Known>(addresses.map((address) => [address, { sure: ABSENT }]))
  const call = (method: string, path: string, body?: unknown) =>
    ask(0, method, path, { socketPath, body, headers: { Authorization: `Bearer ${token}` } })
  let token = ''

  const start = ({ main, env }: BundledServer): Promise<ServerProcess> =>
    startProcess([...store, '--endpoint', admin, '--log', 'info', '--drain', '5'], {
      main,
      env: { ...SECRETS, ...env },
    })

  /** Compares what a new process says and does with what is known, and settles what was not. */
  async function check(server: ServerProcess): Promise<void> {
    const list = (await call('GET', '/_api/endpoint')).json as EndpointRecord[]
    await expectListening(
      server.pid,
      list.map(({ endpoint }) => endpoint),
    )
    const listed = new Map(list.map(({ endpoint, databases }) => [endpoint, databases.join()]))
    expect(listed.has(admin)).toBe(true)
    listed.delete(admin)
    for (const [address, what] of known) {
      const now = listed.get(address) ?? ABSENT
      listed.delete(address)
      if ('sure' in what) expect([address, now]).toEqual([address, what.sure])
      else expect(what.either).toContain(now)
      known.set(address, { sure: now })
    }
    expect([...listed]).toEqual([])
    const stored = await readAll(call)
    for (const writer of writers) writer.check(stored, true)
  }

  const writers = Array.from({ length: WRITERS }, (_, at) => createDocumentWriter(`w${at}`, random))
  let adds = 0
  let removes = 0
  let unanswered = 0

  /** Changes endpoints of its own, one after the other, until one is not answered. */
  async function change(own: readonly string[], round: number, tick: () => void): Promise<void> {
    for (;;) {
      const address = own[random(own.length)] as string
      const before = known.get(address) as { sure: string }
      const name = `r${round}-${random(1_000)}`
      const adding = before.sure === ABSENT || random(4) === 0
      const after = adding ? name : ABSENT
      known.set(address, { either: [before.sure, after] })
      tick()
      const answer = await (adding
        ? call('POST', '/_api/endpoint', { endpoint: address, databases: [name] })
        : call('DELETE', endpointPath(address))
      ).catch(() => undefined)
      if (answer === undefined) {
        unanswered++
        return
      }
      // What was answered counts, also when the server was dead by the time it was read.
      expect([address, answer.status, answer.text]).toEqual([address, 200, expect.anything()])
      known.set(address, { sure: after })
      if (adding) adds++
      else removes++
      tick()
    }
  }

  for (let round = 1; round <= rounds; round++) {
    const server = await start(bundle)
    if (token === '') token = await makeToken({ data: '', databaseUrl: undefined, ...location })
    await check(server)
    // At some sending or some answering, of whichever client that may be.
    let left = CLIENTS + WRITERS + random(45)
    const tick = () => {
      if (left-- === 0) server.signal('SIGKILL')
    }
    const own = (client: number) => addresses.slice(client * PORTS_EACH, (client + 1) * PORTS_EACH)
    await Promise.all([
      ...Array.from({ length: CLIENTS }, (_, client) => change(own(client), round, tick)),
      ...writers.map(async (writer) => {
        while (await writer.write(call, tick));
      }),
    ])
    expect(await server.exit).toEqual({ code: null, signal: 'SIGKILL' })
    if ('databaseUrl' in location) await untilForgotten(location.databaseUrl)
  }

  // The rounds have been about something: every kill has met changes under way.
  expect(adds + removes).toBeGreaterThan(rounds)
  expect(unanswered).toBe(rounds * CLIENTS)
  expect(writers.reduce((sum, { acknowledged }) => sum + acknowledged, 0)).toBeGreaterThan(rounds)
  const server = await start({ main: MAIN, env: {} })
  await check(server)
  server.signal('SIGTERM')
  expect(await server.exit).toEqual({ code: 0, signal: null })
}

/**
 * Waits until PostgreSQL has noticed that the connections of a dead process are gone: until then it
 * may still be committing what it was last told.
 */
async function untilForgotten(databaseUrl: string): Promise<void> {
  const client = new pg.Client({ connectionString: inject('postgresUrl') })
  await client.connect()
  try {
    const name = new URL(databaseUrl).pathname.slice(1)
    const count = 'select count(*)::int as n from pg_stat_activity where datname = $1'
    await vi.waitFor(
      async () => expect((await client.query(count, [name])).rows).toEqual([{ n: 0 }]),
      { timeout: 10_000, interval: 5 },
    )
  } finally {
    await client.end()
  }
}
