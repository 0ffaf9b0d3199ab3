import { expect, onTestFinished, test } from 'vitest'
import { sendRequest } from '../test-support/start.testing.ts'
import { KeepAliveClient } from './listeners/keep-alive-client.testing.ts'
import {
  add,
  createEndpointFixture,
  listenersOf,
  remove,
} from './registry/endpoint-fixture.testing.ts'

const fixture = createEndpointFixture()

test('the counters of an endpoint that is added again include those of its closed listeners', async () => {
  const { port, address } = fixture
  const node = await fixture.start({ drain: 30_000 })
  /** Returns the values of a metric of the endpoint. */
  const valuesOf = async (metric: string) => {
    const { text } = await node.request('GET', '/_api/metrics')
    const prefix = `${metric}{endpoint="${address}"`
    return text
      .split('\n')
      .flatMap((line) => (line.startsWith(prefix) ? Number(line.split(' ').at(-1)) : []))
  }
  const ask = async (client: KeepAliveClient) => expect((await client.request()).status).toBe(200)
  const stateOf = async () =>
    (await listenersOf(node)).flatMap(({ endpoint, state }) => (endpoint === address ? state : []))

  await add(node, address)
  const open = async () => {
    const client = await KeepAliveClient.open({ port })
    onTestFinished(() => client.leave())
    return client
  }
  const first = await open()
  await ask(first)
  await ask(first)
  // Half of a request keeps the connection open.
  await first.sendPart('GET /_api/health HTTP/1.1\r\n')
  await remove(node, address)
  await add(node, address)
  expect((await sendRequest(port, 'GET', '/_api/health')).status).toBe(200)

  expect(await stateOf()).toEqual(['listening', 'draining'])
  await expect.poll(() => valuesOf('gatehouse_requests_total')).toEqual([3])
  const [sent = 0] = await valuesOf('gatehouse_sent_bytes_total')

  first.leave()
  await expect.poll(stateOf).toEqual(['listening'])
  await ask(await open())
  await expect.poll(() => valuesOf('gatehouse_requests_total')).toEqual([4])
  expect((await valuesOf('gatehouse_sent_bytes_total'))[0]).toBeGreaterThan(sent)
})

test('a sign-in that was cancelled at the provider is not counted as a server error', async () => {
  const node = await fixture.start()
  const path = '/_oauth2/local/auth?error=access_denied'
  expect((await node.request('GET', path)).status).toBe(500)
  const { text } = await node.request('GET', '/_api/metrics')
  expect(text).toMatch(/^gatehouse_requests_total\{.*status="provider_error"\} 1$/m)
  expect(text).not.toMatch(/status="5.."/)
})
