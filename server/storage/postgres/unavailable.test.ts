import { Socket } from 'node:net'
import { setImmediate } from 'node:timers/promises'
import { sql } from 'kysely'
import pg from 'pg'
import {
  afterAll,
  afterEach,
  beforeAll,
  beforeEach,
  describe,
  expect,
  onTestFinished,
  test,
  vi,
} from 'vitest'
import { WAIT } from '../../test-support/wait.testing.ts'
import { HealthMonitor } from '../availability/health-monitor.ts'
import { OutcomeUnknown } from '../availability/unavailable.ts'
import { createUntilAvailable } from '../availability/until-available.ts'
import { nextRevision } from '../changes/begin-change.ts'
import { openStore } from '../open.ts'
import type { Store } from '../store.ts'
import { type OwnPostgres, startOwnPostgres } from '../test-support/postgres-server.testing.ts'
import { COMMIT_BYTES, startTcpProxy, type TcpProxy } from '../test-support/tcp-proxy.testing.ts'
import { resolveCommit } from './connections/outcome.ts'

// The server becomes unavailable in different ways, and recovers. Pending requests are rejected,
// later ones immediately. The outcome of every commit is reported correctly.

let server: OwnPostgres
let proxy: TcpProxy
let store: Store
const reached: boolean[] = []

beforeAll(async () => {
  server = await startOwnPostgres()
})
afterAll(() => server.remove())

beforeEach(async () => {
  proxy = await startTcpProxy(server.port)
  const databaseUrl = `postgres://gatehouse@127.0.0.1:${proxy.port}/postgres`
  reached.length = 0
  store = await openStore({ databaseUrl }, 'node', (away) => reached.push(away === undefined))
})
afterEach(async () => {
  // The server may be stopped if a test failed.
  await server.start()
  proxy.heal()
  await store.close()
  await proxy.close()
})

/** Health check that a test does not expect to run. */
const never = { probe: () => Promise.reject(new Error('looked')), changed: () => {} }

const revise = () => store.change(nextRevision)
const revision = async () => {
  const counters = store.db.selectFrom('counters').select('value').where('name', '=', 'revision')
  return (await counters.executeTakeFirst())?.value ?? 0
}

const expectUnavailable = (work: Promise<unknown>) =>
  expect(work).rejects.toMatchObject({ code: 'unavailable' })

/** Fails if the work waits for more than turns of the event loop, such as a timeout. */
async function expectUnavailableImmediately(work: Promise<unknown>): Promise<void> {
  let isPending = true
  const rejected = expectUnavailable(work).finally(() => {
    isPending = false
  })
  for (let turn = 0; turn < 100 && isPending; turn++) await setImmediate()
  expect(isPending).toBe(false)
  await rejected
}

/** Ways in which the server becomes unavailable and recovers. */
const outages = [
  { way: 'is stopped', go: () => server.stop('SIGINT'), back: () => server.start() },
  { way: 'crashes', go: () => server.stop('SIGKILL'), back: () => server.start() },
  { way: 'vanishes', go: async () => proxy.swallow(), back: async () => proxy.heal() },
]

describe.each(outages)('a server that $way', ({ go, back }) => {
  test('has its pending requests rejected, later ones immediately, and is used again afterwards', async () => {
    // Uses every connection, with more queries waiting.
    const sendRequest = () => Promise.all(Array.from({ length: 50 }, revision))
    await sendRequest()
    const before = await revise()

    await go()
    await Promise.all(Array.from({ length: 50 }, () => expectUnavailable(revision())))
    await expect.poll(() => store.outage()?.reason).toEqual(expect.any(String))
    await expectUnavailableImmediately(revise())

    await back()
    // No rejected change was made.
    await expect.poll(revision).toBe(before)
    await vi.waitFor(revise, WAIT)
    await expect.poll(() => store.outage()).toBeUndefined()
    expect(reached.at(-1)).toBe(true)
    // The pool returns no dead connections, and no queries of the outage remain queued.
    await sendRequest()
  })
})

test('broken connections to an available server are replaced', async () => {
  await Promise.all(Array.from({ length: 20 }, revision))
  const missed: number[] = []
  for (let time = 0; time < 3; time++) {
    reached.length = 0
    proxy.cut()
    await vi.waitFor(revise, WAIT)
    missed.push(reached.length)
  }
  // A pause of the test machine may look like an outage, so one of three attempts must show none.
  expect(missed).toContain(0)
})

test('notifications resume after their connection broke, starting with `all`', async () => {
  const heard: string[] = []
  store.onNotification((topic) => heard.push(topic))
  proxy.cut()
  // Notifications sent in the meantime are lost.
  await expect.poll(() => heard[0]).toBe('all')
  await sql`select pg_notify('gatehouse', 'nodes')`.execute(store.db)
  await expect.poll(() => heard).toContain('nodes')
})

/**
 * Expects one of three attempts to report no outage, because a pause of the test machine may look
 * like one.
 *
 * @param attempt returns whether it had the expected outcome.
 */
async function expectNoOutage(attempt: () => Promise<boolean>): Promise<void> {
  const attempts: unknown[] = []
  for (let time = 0; time < 3; time++) {
    await vi.waitFor(revise, WAIT)
    await expect.poll(() => store.outage()).toBeUndefined()
    reached.length = 0
    const result = { hasOutcome: await attempt(), outages: reached.length }
    if (result.hasOutcome && result.outages === 0) return
    attempts.push(result)
  }
  expect(attempts).toContainEqual({ hasOutcome: true, outages: 0 })
}

test('an available server is not reported as unavailable if this process cannot open files', () =>
  expectNoOutage(async () => {
    const connect = vi.spyOn(Socket.prototype, 'connect').mockImplementation(function (
      this: Socket,
    ) {
      this.destroy(Object.assign(new Error('connect EMFILE'), { code: 'EMFILE' }))
      return this
    })
    onTestFinished(() => connect.mockRestore())
    const recovered = store.recovered()
    await expect.poll(() => connect.mock.calls.length).toBeGreaterThan(0)
    const isRevised = await revise().then(
      () => true,
      () => false,
    )
    connect.mockRestore()
    return isRevised && !(await recovered)
  }))

test('a connection lost in the network is closed, and no other', () =>
  expectNoOutage(async () => {
    const lost = proxy.loseAnswerTo('forgotten', 'silence')
    const slow = sql`select pg_sleep(3)`.execute(store.db)
    const rejected = expectUnavailable(sql`select 'forgotten'`.execute(store.db))
    await lost
    await rejected
    // A slow query on another connection is not aborted.
    return slow.then(
      () => true,
      () => false,
    )
  }))

describe('a commit whose response was lost', () => {
  test('is not reported as failed if it succeeded', async () => {
    const before = await revision()
    const lost = proxy.loseAnswerTo(COMMIT_BYTES)
    expect(await revise()).toBe(before + 1)
    await lost
    expect(await revision()).toBe(before + 1)
  })

  test('is also found if the connection only stops responding', async () => {
    const before = await revision()
    const lost = proxy.loseAnswerTo(COMMIT_BYTES, 'silence')
    expect(await revise()).toBe(before + 1)
    await lost
  })

  test('is reported as rolled back if it never arrived, and blocks nothing', async () => {
    const before = await revision()
    const lost = proxy.loseRequest(COMMIT_BYTES)
    await expect(revise()).rejects.toMatchObject({
      code: 'unavailable',
      message: expect.stringContaining('Nothing was changed'),
    })
    await lost
    expect(await revise()).toBe(before + 1)
  })

  test('is reported as unknown if the database is unavailable', async () => {
    const lost = proxy.loseAnswerTo(COMMIT_BYTES, 'silence')
    const change = expect(revise()).rejects.toBeInstanceOf(OutcomeUnknown)
    await lost
    proxy.swallow()
    await change
    proxy.heal()
    await vi.waitFor(revision, WAIT)
  })

  test('is not confused with another one of the same id after a crash', async () => {
    const lost = proxy.loseAnswerTo(COMMIT_BYTES, 'silence')
    const change = revise().catch((error: unknown) => error)
    await lost
    await server.stop('SIGKILL')
    await server.start()
    expect(await change).toBeInstanceOf(OutcomeUnknown)
    await vi.waitFor(revision, WAIT)
  })
})

test('a transaction id that was assigned again after a crash has an unknown outcome', async () => {
  const connected = async () => {
    const client = new pg.Client({ connectionString: server.url })
    client.on('error', () => {})
    await client.connect()
    return client
  }
  const one = async (client: pg.Client, text: string): Promise<string> =>
    Object.values((await client.query(`select ${text}`)).rows[0])[0] as string
  const runStartOf = '(select stats_reset::text from pg_stat_bgwriter)'
  const first = await connected()
  const runStart = await one(first, runStartOf)
  await first.query('begin')
  const name = await one(first, 'pg_current_xact_id()::text')
  await server.stop('SIGKILL')
  await server.start()
  const second = await connected()
  // The crash discarded the first transaction, so its id is assigned again.
  while (BigInt(await one(second, 'pg_current_xact_id()::text')) < BigInt(name));
  const resolve = (runStart: string) =>
    resolveCommit(server.url, name, { runStart }, new HealthMonitor(never), new Error('lost'))
  await resolve(await one(second, runStartOf))
  await expect(resolve(runStart)).rejects.toBeInstanceOf(OutcomeUnknown)
  await second.end()
})

test('a change outside of a transaction whose response was lost is unknown', async () => {
  const lost = proxy.loseAnswerTo('update')
  const change = store.db.updateTable('counters').set({ value: 7 }).where('value', '=', -1)
  await expect(change.execute()).rejects.toBeInstanceOf(OutcomeUnknown)
  await lost
})

describe('a start without its server', () => {
  const waiting = () => {
    const said: string[] = []
    const untilAvailable = createUntilAvailable({
      signal: new AbortController().signal,
      onWait: ({ cause }) => said.push(String(cause)),
    })
    return { untilAvailable, said }
  }

  test('waits, reports that, and continues when it is available', async () => {
    await server.stop('SIGINT')
    const { untilAvailable, said } = waiting()
    const opening = openStore({ databaseUrl: server.url }, 'node', undefined, untilAvailable)
    await expect.poll(() => said[0]).toContain('ECONNREFUSED')
    await server.start()
    const other = await opening
    expect(await other.change(nextRevision)).toBeGreaterThan(0)
    await other.close()
  })

  test('does not wait if the server rejects the connection', async () => {
    const databaseUrl = server.url.replace('/postgres', '/nowhere')
    const opening = openStore({ databaseUrl }, 'node', undefined, waiting().untilAvailable)
    await expect(opening).rejects.toMatchObject({ code: 'unavailable' })
  })
})
