import { expect, test } from 'vitest'
import { expectRoundTrips } from '../storage/test-support/round-trips.testing.ts'
import { startProxiedNode } from '../test-support/proxied-node.testing.ts'
import { endpointPath } from '../test-support/start.testing.ts'
import { freePorts } from './listeners/free-ports.testing.ts'

// Three round trips: credentials, reads, writes.

test('a request that adds, maps or removes an endpoint takes three round trips', async () => {
  await using proxied = await startProxiedNode()
  const { node, proxy } = proxied
  // Repeated changes need other endpoints and mappings.
  const ports = await freePorts(100)
  const added: string[] = []
  const add = async () => {
    const endpoint = `tcp://127.0.0.1:${ports.pop()}`
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
    if (added.length === 0) await add()
    expect((await node.request('DELETE', endpointPath(added.pop() ?? ''))).status).toBe(200)
  }
  await expectRoundTrips(proxy, 3, add)
  await expectRoundTrips(proxy, 3, map)
  await expectRoundTrips(proxy, 3, remove)
})
