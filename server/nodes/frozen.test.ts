import { once } from 'node:events'
import { request } from 'node:http'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { freePorts } from '../endpoints/free-ports.testing.ts'
import { STALE } from '../health/freshness.ts'
import { killProcesses } from '../server-process.testing.ts'
import { makeDatabase } from '../storage/each-engine.testing.ts'
import { openStore, type Store } from '../storage/open.ts'
import { storeClock } from '../storage/store-clock.ts'
import { type NodeProcess, startNodes } from './node-processes.testing.ts'

// A node whose process is suspended (SIGSTOP), as when its machine is.

let place: Awaited<ReturnType<typeof makeDatabase>>
let store: Store
let frozen: NodeProcess
let other: NodeProcess

beforeAll(async () => {
  place = await makeDatabase()
  store = await openStore({ databaseUrl: place.databaseUrl }, 'tool')
  ;[frozen, other] = (await startNodes(place.databaseUrl, ['frozen', 'other'])) as [
    NodeProcess,
    NodeProcess,
  ]
})
afterAll(async () => {
  await killProcesses()
  await store?.close()
  await place.remove()
})

/** Resolves when a node has not reported to the store for so long, ms. */
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
      { timeout: 60_000, interval: 50 },
    )
    .toBeGreaterThan(ms)

test('a node serves nothing by the state from before it was suspended', async () => {
  const [port = 0] = await freePorts(1)
  const endpoint = `tcp://127.0.0.1:${port}`
  await frozen.ask('POST', '/_api/database', { name: 'blog' })
  await frozen.ask('POST', '/_api/endpoint', { endpoint, databases: ['blog'] })
  await frozen.ask('POST', '/_db/blog/articles', { id: 'one' })
  expect((await frozen.ask('GET', '/articles/one', undefined, { port })).status).toBe(200)

  frozen.process.signal('SIGSTOP')
  // The machine takes the connection and the request while the process is suspended.
  const headers = { Authorization: `Bearer ${frozen.token}` }
  const asking = request({ host: '127.0.0.1', port, path: '/articles/one', headers }).end()
  await once(asking, 'finish')
  const mapped = await other.ask('POST', '/_api/endpoint', { endpoint, databases: ['_system'] })
  expect(mapped.status).toBe(200)
  await untilSilent('frozen', 2 * STALE)
  frozen.process.signal('SIGCONT')
  const [response] = await once(asking, 'response')
  response.resume()
  expect(response.statusCode).toBe(404)
})
