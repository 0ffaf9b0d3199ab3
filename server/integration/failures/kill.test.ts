import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import type { EndpointRecord } from '../../contract/endpoints/endpoint.ts'
import { freePorts } from '../../endpoints/listeners/free-ports.testing.ts'
import { expectListening } from '../../endpoints/listeners/kernel-sockets.testing.ts'
import type { StoreLocation } from '../../storage/open.ts'
import { forEachEngine } from '../../storage/test-support/each-engine.testing.ts'
import { type BundledServer, bundleServer } from '../../test-support/bundle-server.testing.ts'
import { isNotConfirmed, sendUntilConfirmed } from '../../test-support/not-confirmed.testing.ts'
import {
  killProcesses,
  SECRETS,
  type ServerProcess,
  SOURCE,
  startProcess,
  storeFlags,
} from '../../test-support/server-process.testing.ts'
import { endpointPath, makeToken, sendRequest } from '../../test-support/start.testing.ts'
import { createDocumentWriter, readAll } from '../endurance/document-writer.testing.ts'
import { KILLS, randomNumbers, SEED } from '../endurance/settings.testing.ts'
import { waitUntilDisconnected } from './wait-until-disconnected.testing.ts'

// Each round starts a server on the store that the previous round left, checks it, changes
// endpoints and documents with several clients at once, and kills the server (SIGKILL) during the
// changes. The rounds run a bundle of the same sources, which starts faster; the last start of each
// engine's first store runs `node server/main.ts` itself. `npm run test:endurance` makes more rounds.

/**
 * Number of stores per engine, tested in parallel, and rounds per store. SQLite gets more rounds
 * because its tests are cheaper.
 */
const STORES = {
  sqlite: { count: 2, rounds: Math.ceil(KILLS / 2) },
  postgres: { count: 1, rounds: Math.max(3, Math.ceil(KILLS / 10)) },
}

/** Maximum time of a round on a busy machine, ms. */
const ROUND = 60_000

/** Number of concurrent clients that change endpoints, each its own. */
const CLIENTS = 6

/** Number of concurrent clients that change documents, each its own. */
const WRITERS = 3
const PORTS_EACH = 3

/** The known state of an endpoint: its databases or absent, or one of two states. */
type PossibleState = { readonly sure: string } | { readonly either: readonly [string, string] }

/** Stands for an endpoint that does not exist. */
const ABSENT = 'absent'

let folder: string
let bundle: BundledServer

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'gatehouse-kill-'))
  bundle = await bundleServer(folder)
})

afterAll(() => rmSync(folder, { recursive: true, force: true }))

forEachEngine((engine) => {
  // Before the database is removed.
  afterEach(killProcesses)

  const { count, rounds } = STORES[engine.name]

  test(
    `after each of ${count * rounds} kills, endpoints, sockets and documents match the acknowledged changes`,
    async () => {
      const ports = await freePorts(count * CLIENTS * PORTS_EACH)
      await Promise.all(
        Array.from({ length: count }, (_, at) => {
          const location = engine.location()
          const own = ports.slice(at * CLIENTS * PORTS_EACH, (at + 1) * CLIENTS * PORTS_EACH)
          return runRounds(
            'data' in location ? { data: join(location.data, `store-${at}`) } : location,
            own.map((port) => `tcp://127.0.0.1:${port}`),
            rounds,
            randomNumbers(SEED + at),
            at === 0 ? { main: SOURCE, env: {} } : bundle,
          )
        }),
      )
    },
    120_000 + rounds * ROUND,
  )
})

/**
 * Runs the rounds of one store, which add and remove these addresses; then starts `last` and checks
 * it.
 */
async function runRounds(
  location: StoreLocation,
  addresses: readonly string[],
  rounds: number,
  random: (end: number) => number,
  last: BundledServer,
): Promise<void> {
  const socketPath = join(mkdtempSync(join(folder, 'run-')), 'admin.sock')
  const admin = `unix://${socketPath}`
  const store = storeFlags(location)
  const known = new Map<string, PossibleState>(
    addresses.map((address) => [address, { sure: ABSENT }]),
  )
  const call = (method: string, path: string, body?: unknown) =>
    sendRequest(0, method, path, {
      socketPath,
      body,
      headers: { Authorization: `Bearer ${token}` },
    })
  let token = ''

  const start = ({ main, env }: BundledServer): Promise<ServerProcess> =>
    startProcess([...store, '--endpoint', admin, '--log', 'info', '--drain', '5'], {
      main,
      env: { ...SECRETS, ...env },
    })

  /** Compares the state of a new process with what is known, and resolves unknown states. */
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
    const stored = await readAll((method, path) => sendUntilConfirmed(() => call(method, path)))
    for (const writer of writers) writer.check(stored, true)
  }

  const writers = Array.from({ length: WRITERS }, (_, at) => createDocumentWriter(`w${at}`, random))
  let adds = 0
  let removes = 0
  let unanswered = 0

  /** Changes its own endpoints, one after the other, until a request gets no response. */
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
      // A response counts even if the server was killed before the client read it.
      if (isNotConfirmed(answer)) {
        known.set(address, before)
        tick()
        continue
      }
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
    // The server is killed at a random request or response of any client.
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
    if ('databaseUrl' in location) await waitUntilDisconnected(location.databaseUrl)
  }

  // Every kill interrupted changes in progress.
  expect(adds + removes).toBeGreaterThan(rounds)
  expect(unanswered).toBe(rounds * CLIENTS)
  expect(writers.reduce((sum, { acknowledged }) => sum + acknowledged, 0)).toBeGreaterThan(rounds)
  const server = await start(last)
  await check(server)
  server.signal('SIGTERM')
  expect(await server.exit).toEqual({ code: 0, signal: null })
}
