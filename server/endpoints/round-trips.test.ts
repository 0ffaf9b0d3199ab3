import { expect, test } from 'vitest'
import { expectRoundTrips } from '../storage/test-support/round-trips.testing.ts'
import { startProxiedNode } from '../test-support/proxied-node.testing.ts'
import { endpointPath } from '../test-support/start.testing.ts'
import { freePorts } from './listeners/free-ports.testing.ts'

// Three round trips: credentials, reads, writes. A new endpoint opens with its policy, which takes
// another one.

test('a request that maps or removes an endpoint takes three round trips, and one that adds it four', async () => {
  await using proxied = await startProxiedNode()
  const { node, proxy } = proxied
  // Repeated changes need other endpoints and mappings.
  const free = (await freePorts(40)).map((port) => `tcp://127.0.0.1:${port}`)
  const added: string[] = []
  const add = async () => {
    if (free.length === 0) while (added.length > 0) await remove()
    const endpoint = free.pop() ?? ''
    const body = { endpoint, databases: ['blog'] }
    expect((await node.request('POST', '/_api/endpoint', body)).status).toBe(200)
    added.push(endpoint)
  }
  let changes = 0
  const map = async () => {
    const databases = ['_system', `db${++changes}`]
    const body = { endpoint: node.address, databases }
    expect((await node.request('POST', '/_api/endpoint', body)).status).toBe(200)
  }
  const remove = async () => {
    if (added.length === 0) while (free.length > 0) await add()
    const endpoint = added.pop() ?? ''
    expect((await node.request('DELETE', endpointPath(endpoint))).status).toBe(200)
    free.push(endpoint)
  }
  await expectRoundTrips(proxy, 4, add)
  await expectRoundTrips(proxy, 3, map)
  await expectRoundTrips(proxy, 3, remove)
})
