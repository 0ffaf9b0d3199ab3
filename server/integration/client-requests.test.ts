import { afterAll, beforeAll, expect, test } from 'vitest'
import { sendRequest, startForTest, type TestNode } from '../test-support/start.testing.ts'

// Tests requests as HTTP clients and database drivers send them, with a token as the user name of
// the URL.

let node: TestNode
beforeAll(async () => {
  node = await startForTest()
})
afterAll(() => node.stop())

const FORM = 'application/x-www-form-urlencoded'
const JSON_TYPE = 'application/json'
const CLIENTS: readonly [name: string, userAgent?: string, type?: string, password?: string][] = [
  ['curl --data', 'curl/7.88.1', FORM],
  ['wget --post-data', 'Wget/1.21.3', FORM],
  ['PowerShell', 'Mozilla/5.0 (Windows NT; Windows NT 10.0; en-US) WindowsPowerShell/5.1', FORM],
  ['a Java driver', 'Mozilla/5.0 (compatible; ArangoDB-JavaDriver/1.1)', 'application/json'],
  ['a PHP driver', undefined, JSON_TYPE],
  ['a Perl driver', 'ArangoDB.pm', 'text/plain'],
  ['a Ruby client', 'Ruby', FORM],
  ['a JavaScript driver', 'node', `${JSON_TYPE}; charset=utf-8`],
  // Older versions send their missing password as text.
  ['an old JavaScript driver', undefined, JSON_TYPE, 'undefined'],
]

test.each(CLIENTS)('%s manages endpoints and documents', async (...each) => {
  const [client, userAgent, type = JSON_TYPE, password = ''] = each
  const headers: Record<string, string> = {
    Authorization: `Basic ${Buffer.from(`${node.token}:${password}`).toString('base64')}`,
    Accept: '*/*',
    'Content-Type': type,
    // Drivers store and send the cookies that they receive.
    Cookie: 'visited=1',
    ...(userAgent && { 'User-Agent': userAgent }),
  }
  const send = (method: string, path: string, body?: unknown) =>
    sendRequest(node.port, method, path, {
      headers,
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
  const name = client.replace(/\W/g, '-').slice(0, 20)

  expect((await send('POST', '/_api/database', { name })).status).toBe(201)
  const remapped = await send('POST', '/_api/endpoint', {
    endpoint: node.address,
    databases: ['_system', name],
  })
  expect(remapped.status).toBe(200)
  expect((await send('GET', '/_api/endpoint')).json).toEqual([
    { endpoint: node.address, databases: ['_system', name] },
  ])
  const { status, json } = await send('POST', `/_db/${name}/articles`, { title: 'One' })
  expect(status).toBe(201)
  const path = `/_db/${name}/articles/${json.id}`
  expect((await send('PATCH', path, { title: 'Two' })).json).toMatchObject({ title: 'Two' })
  expect((await send('GET', path)).json).toMatchObject({ title: 'Two' })
  expect((await send('DELETE', path)).status).toBe(200)
  const all = await send('POST', '/_api/endpoint', {
    endpoint: node.address,
    databases: [],
  })
  expect(all.status).toBe(200)
})

test.each([
  ['POST', '/_api/database', '{"name":"tricked"}'],
  ['POST', '/articles', '{}'],
])(
  'a page of another site that has the browser send %s %s is rejected',
  async (method, path, body) => {
    const Authorization = `Basic ${Buffer.from(`${node.token}:`).toString('base64')}`
    for (const header of [
      { Origin: 'https://evil.example' },
      { Origin: 'null' },
      { 'Sec-Fetch-Site': 'cross-site' },
    ]) {
      const headers = { Authorization, 'Content-Type': 'text/plain', ...(header as object) }
      const response = await sendRequest(node.port, method, path, { headers, body })
      expect(response.status).toBe(403)
      expect(response.text).toContain('Authorization: Bearer')
    }
  },
)
