import { afterAll, beforeAll, expect, test } from 'vitest'
import { makeDatabase } from '../../storage/test-support/each-engine.testing.ts'
import { startTcpProxy, type TcpProxy } from '../../storage/test-support/tcp-proxy.testing.ts'
import { killProcesses } from '../../test-support/server-process.testing.ts'
import { type NodeProcess, startNodes } from './node-processes.testing.ts'

// One of two nodes reaches PostgreSQL with round trips of 200 ms.

let testDatabase: Awaited<ReturnType<typeof makeDatabase>>
let proxy: TcpProxy
let fast: NodeProcess
let slow: NodeProcess

beforeAll(async () => {
  testDatabase = await makeDatabase()
  const slowUrl = new URL(testDatabase.databaseUrl)
  proxy = await startTcpProxy(Number(slowUrl.port))
  slowUrl.port = String(proxy.port)
  const urls = [testDatabase.databaseUrl, slowUrl.href]
  ;[fast, slow] = (await startNodes(urls, ['fast', 'slow'])) as [NodeProcess, NodeProcess]
  proxy.delay(200)
})
afterAll(async () => {
  await killProcesses()
  await proxy.close()
  await testDatabase.remove()
})

test('a token that another node has revoked is rejected by every later request', async () => {
  const { json } = await fast.request('POST', '/_api/token', { name: 'ci', role: 'operator' })
  const headers = { Authorization: `Bearer ${json.token}` }
  const statuses = (count: number, method: string, path: string) =>
    Promise.all(
      Array.from({ length: count }, async () => {
        const body = method === 'POST' ? {} : undefined
        return (await slow.request(method, path, body, { headers })).status
      }),
    )
  expect(await statuses(1, 'POST', '/things')).toEqual([201])

  // These may be accepted, because they begin before the revocation ends.
  const early = statuses(5, 'GET', '/things')
  expect((await fast.request('DELETE', `/_api/token/${json.info.id}`)).status).toBe(200)
  // Fewer than the failed attempts that an address may make.
  const late = await Promise.all([
    statuses(4, 'GET', '/things'),
    statuses(4, 'POST', '/things'),
    statuses(4, 'GET', '/_api/endpoint'),
  ])
  expect(new Set(late.flat())).toEqual(new Set([401]))
  for (const status of await early) expect([200, 401]).toContain(status)
  expect((await fast.request('GET', '/things')).json).toHaveLength(1)
})
