import { expect, test } from 'vitest'
import { entry } from '../../audit/audit.testing.ts'
import { createRecorder } from '../../audit/record.ts'
import { verifyChain } from '../../audit/verify.ts'
import { openStore } from '../../storage/open.ts'
import { makeDatabase } from '../../storage/test-support/each-engine.testing.ts'
import { startTcpProxy } from '../../storage/test-support/tcp-proxy.testing.ts'
import { createEndpointWriter } from './endpoint-writer.ts'

test('a change of an endpoint takes two round trips to PostgreSQL', async () => {
  const database = await makeDatabase()
  const url = new URL(database.databaseUrl)
  const proxy = await startTcpProxy(Number(url.port))
  url.port = String(proxy.port)
  // A tool has no connection for notifications, whose queries would count.
  const store = await openStore({ databaseUrl: url.href }, 'tool')
  try {
    const write = createEndpointWriter(store, createRecorder())
    const { actor } = entry()
    const counts: number[] = []
    for (const databases of [['a'], ['b'], ['c'], ['"\u2028é😀\\'], null]) {
      const before = proxy.roundTrips
      await write({ endpoint: 'http://127.0.0.1:80/', databases, actor })
      counts.push(proxy.roundTrips - before)
    }
    // A slow machine adds health checks.
    expect(Math.min(...counts)).toBe(2)
    expect(await verifyChain(store)).toMatchObject({ intact: true, seq: 5 })
  } finally {
    await store.close()
    await proxy.close()
    await database.remove()
  }
})
