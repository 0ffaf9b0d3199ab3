import { expect, test } from 'vitest'
import { startProxiedNode } from '../test-support/proxied-node.testing.ts'

test('a request that changes an endpoint takes three round trips: credentials, reads, writes', async () => {
  await using proxied = await startProxiedNode()
  const { node, roundTripsOf } = proxied
  let changes = 0
  const change = async () => {
    const databases = ['_system', `db${++changes}`]
    const body = { endpoint: node.address, databases }
    expect((await node.request('POST', '/_api/endpoint', body)).status).toBe(200)
  }
  // On a slow machine, what the node reads after a change overlaps with all changes of some runs.
  await expect.poll(() => roundTripsOf(change)).toBe(3)
})
