import { expect, test } from 'vitest'
import { expectRoundTrips } from '../storage/test-support/round-trips.testing.ts'
import { startProxiedNode } from '../test-support/proxied-node.testing.ts'

test('a request that changes an endpoint takes three round trips: credentials, reads, writes', async () => {
  await using proxied = await startProxiedNode()
  const { node, proxy } = proxied
  let changes = 0
  const change = async () => {
    const databases = ['_system', `db${++changes}`]
    const body = { endpoint: node.address, databases }
    expect((await node.request('POST', '/_api/endpoint', body)).status).toBe(200)
  }
  await expectRoundTrips(proxy, 3, change)
})
