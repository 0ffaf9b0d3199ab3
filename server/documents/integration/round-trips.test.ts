import { connect } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { expectRoundTrips } from '../../storage/test-support/round-trips.testing.ts'
import { type ProxiedNode, startProxiedNode } from '../../test-support/proxied-node.testing.ts'

let proxied: ProxiedNode
let node: ProxiedNode['node']
let proxy: ProxiedNode['proxy']

beforeAll(async () => {
  proxied = await startProxiedNode()
  ;({ node, proxy } = proxied)
})
afterAll(() => proxied[Symbol.asyncDispose]())

const insert = async (body: object = { title: 'One' }) =>
  (await node.request('POST', '/articles', body)).status

test('credentials and document of a read share a round trip', async () => {
  await insert({ id: 'one' })
  const read = async () => expect((await node.request('GET', '/articles/one')).status).toBe(200)
  await expectRoundTrips(proxy, 1, read)
})

test('an insert takes two round trips, of which the first reads the schema', async () => {
  await expectRoundTrips(proxy, 2, async () => expect(await insert()).toBe(201))
  await node.request('PUT', '/_schema/articles', { required: ['title'] })
  expect(await insert({ n: 1 })).toBe(422)
  await expectRoundTrips(proxy, 2, async () => expect(await insert()).toBe(201))
  await node.request('DELETE', '/_schema/articles')
  expect(await insert({ n: 1 })).toBe(201)
})

test.each([
  ['plain', false],
  ['indexed', true],
])('a replacement, a merge and a deletion take two round trips: %s', async (name, hasIndexes) => {
  const path = `/${name}`
  const ids = Array.from({ length: 1_000 }, (_, at) => `deleted-${at}`)
  await node.request(
    'POST',
    path,
    ids.map((id) => ({ id })),
  )
  if (hasIndexes) {
    const indexes = `/_index/${name}`
    await node.request('PUT', `${indexes}/by-title`, { fields: ['title'] })
    await node.request('PUT', `${indexes}/by-n`, { fields: ['n'], unique: true })
    const states = async () =>
      (await node.request('GET', indexes)).json.map(({ state }: { state: string }) => state)
    await expect.poll(states).toEqual(['ready', 'ready'])
  }
  await node.request('POST', path, { id: 'changed' })
  let n = 0
  for (const method of ['PUT', 'PATCH']) {
    const change = async () => {
      const { status } = await node.request(method, `${path}/changed`, { title: 'Two', n: ++n })
      expect(status).toBe(200)
    }
    await expectRoundTrips(proxy, 2, change)
  }
  const remove = async () =>
    expect((await node.request('DELETE', `${path}/${ids.pop()}`)).status).toBe(200)
  await expectRoundTrips(proxy, 2, remove)
})

test.each([
  ['POST', '/late'],
  ['PATCH', '/late/one'],
])('a schema that is stored while the body arrives applies to %s %s', async (method, path) => {
  await node.request('DELETE', '/_schema/late')
  await node.request('POST', '/late', { id: 'one' })
  const body = '{"n":1}'
  const socket = connect(node.port, '127.0.0.1')
  let response = ''
  socket.setEncoding('utf8').on('data', (text: string) => {
    response += text
  })
  const before = proxy.roundTrips
  socket.write(
    [
      `${method} ${path} HTTP/1.1`,
      'Host: 127.0.0.1',
      `Authorization: Bearer ${node.token}`,
      'Content-Type: application/json',
      `Content-Length: ${body.length}`,
      '',
      body.slice(0, 1),
    ].join('\r\n'),
  )
  await expect.poll(() => proxy.roundTrips).toBeGreaterThan(before)
  expect((await node.request('PUT', '/_schema/late', { required: ['title'] })).status).toBe(201)
  socket.write(body.slice(1))
  await expect.poll(() => response).toMatch(/^HTTP\/1\.1 422 /)
  socket.destroy()
})
