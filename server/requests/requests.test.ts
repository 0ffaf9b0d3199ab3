import { request as httpRequest, type IncomingMessage } from 'node:http'
import { connect } from 'node:net'
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from 'vitest'
import { BACKGROUND_HEADER } from '../contract/access/session.ts'
import type { RequestBatch, RequestEntry } from '../contract/endpoints/request.ts'
import { freePorts } from '../endpoints/listeners/free-ports.testing.ts'
import { openApp } from '../test-support/app.testing.ts'
import { CONSOLE_HEADERS, operatorSession } from '../test-support/operator-session.testing.ts'
import { sendRequest, startForTest, type TestNode } from '../test-support/start.testing.ts'

// Tests what a node records of real requests.

let node: TestNode
beforeEach(async () => {
  node = await startForTest({ trustedProxies: ['127.0.0.1'] })
})
afterEach(() => node.stop())

const recorded = async (query = ''): Promise<RequestEntry[]> =>
  (await node.request('GET', `/_api/request${query}`)).json

/** Follows the requests. Resolves once the stream has sent what was recorded before. */
async function follow(requests = '*', port = node.port, headers?: Record<string, string>) {
  const stream = await new Promise<IncomingMessage>((resolve, reject) => {
    httpRequest(
      {
        host: '127.0.0.1',
        port,
        path: `/_api/events?requests=${encodeURIComponent(requests)}`,
        headers: headers ?? { Authorization: `Bearer ${node.token}` },
        agent: false,
      },
      resolve,
    )
      .on('error', reject)
      .end()
  })
  const batches: RequestBatch[] = []
  let text = ''
  let hasEnded = false
  stream.on('end', () => {
    hasEnded = true
  })
  stream.setEncoding('utf8').on('data', (part: string) => {
    text += part
    for (const [, data = ''] of text.matchAll(/^data: (\{"type":"requests".*)\n\n/gm)) {
      batches.push(JSON.parse(data))
    }
    text = text.slice(text.lastIndexOf('\n\n') + 2)
  })
  await expect.poll(() => batches.length).toBeGreaterThan(0)
  return {
    status: stream.statusCode,
    requests: () => batches.flatMap(({ requests }) => requests),
    hasEnded: () => hasEnded,
    close: () => stream.destroy(),
  }
}

test('rejections are always recorded, with their reason, caller and client', async () => {
  const viewer = await node.request('POST', '/_api/token', { name: 'partner', role: 'viewer' })
  const bearer = { Authorization: `Bearer ${viewer.json.token}` }
  const send = (method: string, path: string, headers = {}, body?: unknown) =>
    sendRequest(node.port, method, path, { headers, body })
  await send('GET', '/articles?secret=1', { 'X-Forwarded-For': '203.0.113.7' })
  await send('DELETE', '/articles/1', bearer)
  await send('GET', '/_db/none/articles', bearer)
  await send('GET', '/_console/', { Host: 'evil.example.org' })
  await node.request('POST', '/_api/database', { name: 'x'.repeat(2 * 1024 * 1024) })
  // Neither of these is a rejection.
  await node.request('GET', '/articles/none')
  await node.request('GET', '/_api/endpoint')

  const expected = {
    id: expect.any(Number),
    time: expect.stringMatching(/^2.*Z$/),
    node: 'test',
    endpoint: node.address,
    client: '127.0.0.1',
    ms: expect.any(Number),
    bytes: expect.any(Number),
    caller: null,
    token: null,
  }
  const partner = { caller: 'local:operator', token: 'partner' }
  const list = await recorded()
  expect(list).toEqual([
    {
      ...expected,
      ...{ caller: 'local:operator', token: 'tests', database: '_system' },
      ...{ method: 'POST', path: '/_api/database', status: 413, rejected: 'size' },
    },
    {
      ...expected,
      ...{ method: 'GET', path: '/_console/', database: null, status: 421, rejected: 'host' },
    },
    {
      ...expected,
      ...{ method: 'GET', path: '/_db/none/articles', database: null },
      ...{ status: 404, rejected: 'database' },
    },
    {
      ...expected,
      ...partner,
      ...{ method: 'DELETE', path: '/articles/1', database: '_system' },
      ...{ status: 403, rejected: 'permission' },
    },
    {
      ...expected,
      client: '203.0.113.7',
      ...{ method: 'GET', path: '/articles', database: '_system' },
      ...{ status: 401, rejected: 'credential' },
    },
  ])
  expect(list.every(({ ms, bytes }) => (ms ?? 0) > 0 && bytes > 0)).toBe(true)
  expect((await recorded('?rejected=true&status=403&limit=1')).map(({ path }) => path)).toEqual([
    '/articles/1',
  ])
  expect(await recorded('?client=203.0.113.7')).toHaveLength(1)
})

test('other requests are recorded while a client follows their endpoint', async () => {
  const [port = 0] = await freePorts(1)
  await node.request('POST', '/_api/endpoint', {
    endpoint: `tcp://127.0.0.1:${port}`,
    databases: [],
  })
  const read = (path: string, through = node.port) =>
    node.request('GET', path, undefined, { port: through })
  await read('/a/1')
  const stream = await follow(node.address)
  expect(stream.requests()).toEqual([])
  await read('/a/2')
  await read('/a/3', port)
  const [entry] = await expect.poll(stream.requests).toHaveLength(1).then(stream.requests)
  expect(entry).toMatchObject({ path: '/a/2', status: 404, token: 'tests', rejected: null })
  stream.close()
  // The node has noticed the end once it records no more.
  await expect
    .poll(async () => {
      const path = `/b/${Math.random()}`
      await read(path)
      return (await recorded()).some((each) => each.path === path)
    })
    .toBe(false)
  expect((await recorded('?limit=1000')).map(({ path }) => path)).not.toContain('/a/3')
})

test('a stream ends with the token of its reader, and with its endpoint', async () => {
  const made = await node.request('POST', '/_api/token', { name: 'a', role: 'viewer' })
  const headers = { Authorization: `Bearer ${made.json.token}` }
  const byToken = await follow('*', node.port, headers)
  await node.request('DELETE', `/_api/token/${made.json.info.id}`)
  await expect.poll(byToken.hasEnded).toBe(true)

  const [port = 0] = await freePorts(1)
  const endpoint = `tcp://127.0.0.1:${port}`
  await node.request('POST', '/_api/endpoint', { endpoint, databases: [] })
  const there = await follow('*', port)
  await node.request('DELETE', `/_api/endpoint?endpoint=${encodeURIComponent(endpoint)}`)
  await expect.poll(there.hasEnded).toBe(true)
})

test('following requests is no use of the session', async () => {
  vi.useFakeTimers({ toFake: ['Date'] })
  onTestFinished(() => void vi.useRealTimers())
  // The node keeps the clock of its start.
  await node.stop()
  node = await startForTest()
  const headers = { Cookie: await operatorSession(node), ...CONSOLE_HEADERS }
  vi.setSystemTime(Date.now() + 60_000)
  const get = (path: string, more = {}) =>
    sendRequest(node.port, 'GET', path, { headers: { ...headers, ...more } })
  const idleExpires = async () =>
    (await get('/_api/session', { [BACKGROUND_HEADER]: '1' })).json.idleExpires
  const before = await idleExpires()
  const stream = await follow('*', node.port, headers)
  expect(await idleExpires()).toBe(before)
  await get('/_api/endpoint')
  expect(await idleExpires()).not.toBe(before)
  stream.close()
})

test('a client that disconnects before its response has no status', async () => {
  const stream = await follow()
  const socket = connect(node.port, '127.0.0.1', () => {
    const head = `POST /articles HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${node.token}\r\n`
    socket.write(`${head}Content-Length: 10\r\n\r\n{`, () => socket.destroy())
  })
  await expect
    .poll(() => stream.requests().find(({ method }) => method === 'POST'))
    .toMatchObject({ path: '/articles', status: null, client: '127.0.0.1' })
  stream.close()
})

test.each([
  '?status=999',
  '?status=4x',
  '?limit=0',
  '?limit=1001',
  '?endpoint=x',
  '?rejected=yes',
  '?client=',
])('the query %s is 400', async (query) => {
  const { status, json } = await node.request('GET', `/_api/request${query}`)
  expect([status, json.errorNum, json.field]).toEqual([400, 10, /\w+/.exec(query)?.[0]])
})

test('a connection that an endpoint refused is recorded with its rule', async () => {
  const { modules, request, close } = await openApp()
  onTestFinished(close)
  modules.requests.recordRefusal('tcp://127.0.0.1:1', '203.0.113.7', 'deny')
  expect(await (await request('/_api/request')).json()).toEqual([
    expect.objectContaining({
      ...{ endpoint: 'tcp://127.0.0.1:1', client: '203.0.113.7', rejected: 'deny' },
      ...{ method: null, path: null, status: null, caller: null, database: null },
    }),
  ])
})
