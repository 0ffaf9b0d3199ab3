import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import { text } from 'node:stream/consumers'
import { sql } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { freePorts } from '../../endpoints/listeners/free-ports.testing.ts'
import { MAX_AGE } from '../../health/freshness.ts'
import { nextRevision } from '../../storage/changes/begin-change.ts'
import { openStore } from '../../storage/open.ts'
import type { Store } from '../../storage/store.ts'
import { storeClock } from '../../storage/store-clock.ts'
import { makeDatabase } from '../../storage/test-support/each-engine.testing.ts'
import { isNotConfirmed } from '../../test-support/not-confirmed.testing.ts'
import { killProcesses } from '../../test-support/server-process.testing.ts'
import { type NodeProcess, startNodes } from './node-processes.testing.ts'

// A node whose process is suspended (SIGSTOP), as when its machine sleeps.

let testDatabase: Awaited<ReturnType<typeof makeDatabase>>
let store: Store
let frozen: NodeProcess
let other: NodeProcess

beforeAll(async () => {
  testDatabase = await makeDatabase()
  store = await openStore({ databaseUrl: testDatabase.databaseUrl }, 'tool')
  ;[frozen, other] = (await startNodes(testDatabase.databaseUrl, ['frozen', 'other'])) as [
    NodeProcess,
    NodeProcess,
  ]
})
afterAll(async () => {
  await killProcesses()
  await store?.close()
  await testDatabase.remove()
})

/** Resolves when a node has not reported to the database for `ms`. */
const untilSilent = (name: string, ms: number) =>
  expect
    .poll(
      async () => {
        const { silence } = await store.db
          .selectFrom('nodes')
          .select((eb) => eb(storeClock, '-', eb.ref('seen_at')).as('silence'))
          .where('name', '=', name)
          .executeTakeFirstOrThrow()
        return Number(silence)
      },
      { interval: 50 },
    )
    .toBeGreaterThan(ms)

/** Takes the lock that all changes need; returns a function that releases it. */
async function holdChanges(): Promise<() => void> {
  const held = Promise.withResolvers<void>()
  let isReleased = false
  const holding = store.change(async (trx) => {
    await nextRevision(trx)
    held.resolve()
    // Not idle, because PostgreSQL ends a transaction that is idle for 5 s.
    while (!isReleased) await sql`select pg_sleep(0.05)`.execute(trx)
    throw new Error('released')
  })
  holding.catch(() => {})
  await held.promise
  return () => {
    isReleased = true
  }
}

/** Returns how many connections wait for a lock. */
async function waiting(): Promise<number> {
  const { rows } = await sql`
    select 1 from pg_stat_activity
    where datname = current_database() and wait_event_type = 'Lock'`.execute(store.db)
  return rows.length
}

test('a suspended node delays one change of the others, and serves nothing stale', async () => {
  const [port = 0] = await freePorts(1)
  const endpoint = `tcp://127.0.0.1:${port}`
  await frozen.request('POST', '/_api/database', { name: 'blog' })
  await frozen.request('POST', '/_api/endpoint', { endpoint, databases: ['blog'] })
  await frozen.request('POST', '/_db/blog/articles', { id: 'one' })
  expect((await frozen.request('GET', '/articles/one', undefined, { port })).status).toBe(200)

  const release = await holdChanges()
  const changes: Promise<unknown>[] = []
  for (let n = 0; n < 8; n++) {
    changes.push(frozen.request('POST', '/_api/database', { name: `d${n}` }))
    // Once this is answered, the change waits for the lock.
    await frozen.request('GET', '/_api/endpoint')
  }
  await expect.poll(waiting).toBe(1)
  frozen.process.signal('SIGSTOP')
  release()
  // The kernel accepts the connection and the request while the process is suspended.
  const headers = { Authorization: `Bearer ${frozen.token}` }
  const asking = request({ host: '127.0.0.1', port, path: '/articles/one', headers }).end()
  await once(asking, 'finish')
  // Its first change holds the lock until PostgreSQL ends the session; the others have not
  // requested it.
  const mapped = await other.request('POST', '/_api/endpoint', { endpoint, databases: ['_system'] })
  expect([mapped.status, mapped.text]).toEqual([200, expect.any(String)])
  await untilSilent('frozen', 2 * MAX_AGE)

  frozen.process.signal('SIGCONT')
  const [response] = (await once(asking, 'response')) as [IncomingMessage]
  const asked = { status: response.statusCode ?? 0, text: await text(response) }
  // On a busy machine, the node may not be able to confirm its state in time.
  if (!isNotConfirmed(asked)) expect(asked).toMatchObject({ status: 404 })
  expect((await frozen.request('GET', '/articles/one', undefined, { port })).status).toBe(404)
  await Promise.all(changes)
})
