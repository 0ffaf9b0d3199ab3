import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pino } from 'pino'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { freePorts } from '../../endpoints/listeners/free-ports.testing.ts'
import { start } from '../../start.ts'
import { makeDatabase } from '../../storage/test-support/each-engine.testing.ts'
import { startTcpProxy, type TcpProxy } from '../../storage/test-support/tcp-proxy.testing.ts'
import { SETTINGS, sendRequest } from '../../test-support/start.testing.ts'

// Tests starts during which PostgreSQL becomes unavailable.

let testDatabase: Awaited<ReturnType<typeof makeDatabase>>
let proxy: TcpProxy
let data: string
let port: number
let lines: string[]

beforeAll(async () => {
  testDatabase = await makeDatabase({ empty: true })
  proxy = await startTcpProxy(Number(new URL(testDatabase.databaseUrl).port))
  ;[port = 0] = await freePorts(1)
  data = await mkdtemp(join(tmpdir(), 'gatehouse-'))
})
afterAll(async () => {
  await proxy.close()
  await testDatabase.remove()
  await rm(data, { recursive: true })
})

function begin(signal?: AbortSignal) {
  const databaseUrl = new URL(testDatabase.databaseUrl)
  databaseUrl.port = String(proxy.port)
  const config = {
    ...SETTINGS,
    data,
    endpoints: [`tcp://127.0.0.1:${port}`],
    databaseUrl: databaseUrl.href,
    operatorKey: 'operator-key-of-tests-alone-000000',
    secretKey: Buffer.alloc(32, 1),
  }
  lines = []
  const log = pino({ level: 'warn' }, { write: (line: string) => lines.push(line) })
  return start(config, log, join(data, 'no-console'), signal)
}

test('a start survives the loss of its connections at every third of its queries', async () => {
  let cut = true
  let query = 0
  // The first start creates the store; later starts open it.
  for (; cut; query += 3) {
    const wasCut = proxy.cutAfterQueries(query + 1)
    const node = await begin()
    cut = wasCut()
    proxy.cutAfterQueries(Infinity)
    // A query after the start may have lost its connection; then the node is ready again soon.
    await expect
      .poll(() => sendRequest(port, 'GET', '/_api/health/ready'), { message: `query ${query}` })
      .toMatchObject({ status: 200 })
    await node.stop()
  }
  // The start has several queries of each kind: connecting, migrating, listening, reading,
  // registering, opening.
  expect(query).toBeGreaterThan(20)
})

test('a waiting start reports that, and ends when it is aborted', async () => {
  proxy.swallow()
  const stopping = new AbortController()
  const starting = begin(stopping.signal)
  starting.catch(() => {})
  await expect.poll(() => lines.join()).toContain('waiting for the database to become available')
  stopping.abort()
  await expect(starting).rejects.toBe(stopping.signal.reason)
  proxy.heal()
})
