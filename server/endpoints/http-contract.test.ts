import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { ErrorObject } from '../contract/acknowledgement.ts'
import {
  endpointPath,
  sendRequest,
  startForTest,
  type TestNode,
} from '../test-support/start.testing.ts'
import { freePorts } from './listeners/free-ports.testing.ts'

// docs/http-api.md, "Endpoints", row by row, over plain HTTP against a running server.

const JSON_UTF8 = 'application/json; charset=utf-8'
const ACKNOWLEDGED = { result: true, error: false, code: 200 }
const ABSENT = { error: true, code: 404, errorNum: 1231, errorMessage: 'endpoint not found' }

let node: TestNode

beforeAll(async () => {
  node = await startForTest()
  await node.request('POST', '/_api/database', { name: 'blog' })
})
afterAll(() => node.stop())

const freeAddress = async () => `tcp://127.0.0.1:${await freePorts(1)}`
const add = (endpoint: string, databases: string[] = []) =>
  node.request('POST', '/_api/endpoint', { endpoint, databases })
const portOf = (address: string) => Number(/[0-9]+$/.exec(address)?.[0])

describe('List endpoints', () => {
  it('returns 200 with an array of endpoint records and nothing else', async () => {
    const response = await node.request('GET', '/_api/endpoint')
    expect(response.status).toBe(200)
    expect(response.headers['content-type']).toBe(JSON_UTF8)
    expect(response.json).toEqual([{ endpoint: node.address, databases: [] }])
  })

  it('lists every configured endpoint, sorted by address', async () => {
    const addresses = [await freeAddress(), await freeAddress()]
    for (const address of addresses.toReversed()) await add(address, ['blog'])
    const records = (await node.request('GET', '/_api/endpoint')).json as { endpoint: string }[]
    const listed = records.map(({ endpoint }) => endpoint)
    expect(listed).toEqual([node.address, ...addresses].sort())
    for (const address of addresses) await node.request('DELETE', endpointPath(address))
  })

  it('lists only the requested endpoints', async () => {
    const address = await freeAddress()
    await add(address, ['blog'])
    const only = (...wanted: string[]) =>
      node.request(
        'GET',
        `/_api/endpoint?${wanted.map((one) => `endpoint=${encodeURIComponent(one)}`).join('&')}`,
      )
    const record = { endpoint: address, databases: ['blog'] }
    expect((await only(address)).json).toEqual([record])
    expect((await only(address, node.address, 'tcp://nobody:1')).json).toHaveLength(2)
    expect((await only('tcp://nobody:1')).json).toEqual([])
    await node.request('DELETE', endpointPath(address))
  })

  it('returns 400 outside the system database', async () => {
    const response = await node.request('GET', '/_db/blog/_api/endpoint')
    expect(response.status).toBe(400)
    expect(response.headers['content-type']).toBe(JSON_UTF8)
    expect(response.json).toEqual({
      error: true,
      code: 400,
      errorNum: 1230,
      errorMessage: expect.stringContaining('_system'),
    })
  })

  it.each(['PUT', 'PATCH', 'DELETE', 'OPTIONS', 'PROPFIND'])(
    'returns 405 for %s with the supported methods',
    async (method) => {
      const response = await node.request(method, '/_api/endpoint')
      expect(response.status).toBe(405)
      // DELETE requires an address.
      const others = method === 'DELETE' ? '' : ', DELETE'
      expect(response.headers.allow).toBe(`GET, HEAD, POST${others}`)
      expect(response.headers['content-type']).toBe(JSON_UTF8)
      expect(response.json).toMatchObject({ error: true, code: 405, errorNum: 405 })
    },
  )

  it('returns 405 for GET of a single endpoint', async () => {
    const response = await node.request('GET', endpointPath(node.address))
    expect(response.status).toBe(405)
    expect(response.headers.allow).toBe('DELETE')
  })
})

describe('Add an endpoint', () => {
  it('accepts an empty array of databases, returns 200 and listens', async () => {
    const address = await freeAddress()
    const response = await add(address, [])
    expect(response.status).toBe(200)
    expect(response.headers['content-type']).toBe(JSON_UTF8)
    expect(response.json).toEqual(ACKNOWLEDGED)
    expect((await sendRequest(portOf(address), 'GET', '/_api/health')).status).toBe(200)
  })

  it('returns 200 and the acknowledgement for the same body again', async () => {
    const address = await freeAddress()
    expect((await add(address, ['blog'])).json).toEqual(ACKNOWLEDGED)
    const again = await add(address, ['blog'])
    expect(again.status).toBe(200)
    expect(again.json).toEqual(ACKNOWLEDGED)
    const records = (await node.request('GET', '/_api/endpoint')).json as { endpoint: string }[]
    expect(records.filter(({ endpoint }) => endpoint === address)).toHaveLength(1)
  })

  it('returns 200 for a body with an additional key "database", which has no effect', async () => {
    const endpoint = await freeAddress()
    const response = await node.request('POST', '/_api/endpoint', {
      endpoint,
      databases: ['blog'],
      database: ['other'],
    })
    expect(response.status).toBe(200)
    const records = (await node.request('GET', '/_api/endpoint')).json
    expect(records).toContainEqual({ endpoint, databases: ['blog'] })
  })

  it('ignores a trailing slash of the path', async () => {
    for (const path of ['/_api/endpoint/', '/_db/_system/_api/endpoint/']) {
      expect((await node.request('GET', path)).text).toBe(
        (await node.request('GET', '/_api/endpoint')).text,
      )
    }
  })

  it('requires databases: without it, an endpoint is neither added nor mapped to every database', async () => {
    const endpoint = await freeAddress()
    const without = () => node.request('POST', '/_api/endpoint', { endpoint })
    expect((await without()).json).toMatchObject({
      code: 400,
      errorNum: 10,
      errorMessage: expect.stringContaining('The body is invalid. databases: missing.'),
    })
    expect((await add(endpoint, ['blog'])).status).toBe(200)
    expect((await without()).status).toBe(400)
    const records = (await node.request('GET', '/_api/endpoint')).json
    expect(records).toContainEqual({ endpoint, databases: ['blog'] })
  })

  it.each<[string, unknown, number, string, string | undefined]>([
    ['a missing endpoint', { databases: [] }, 10, 'endpoint: missing.', '/endpoint'],
    ['an endpoint that is a number', { endpoint: 8530 }, 10, 'endpoint: expected', '/endpoint'],
    [
      'databases that are not an array',
      { endpoint: 'tcp://a:1', databases: 'a' },
      10,
      'databases:',
      '/databases',
    ],
    [
      'a name that is not a string',
      { endpoint: 'tcp://a:1', databases: [1] },
      10,
      'databases[0]:',
      '/databases/0',
    ],
    [
      'a malformed address',
      { endpoint: '127.0.0.1:8530', databases: [] },
      10,
      'tcp://host:port',
      '/endpoint',
    ],
    [
      'a name twice',
      { endpoint: 'tcp://a:1', databases: ['a', 'a'] },
      10,
      'contains a twice',
      '/databases/1',
    ],
    [
      'a bad database name',
      { endpoint: 'tcp://a:1', databases: ['1a'] },
      1229,
      '"1a"',
      '/databases/0',
    ],
    ['an array', [], 10, 'The body is invalid. Expected object, received array.', ''],
    ['a body that is not JSON', '{"endpoint":', 600, 'not JSON', undefined],
    ['an empty body', '', 600, 'The body is empty.', undefined],
  ])(
    'returns 400 for %s, names the field and changes nothing',
    async (_what, body, errorNum, says, field) => {
      const before = (await node.request('GET', '/_api/endpoint')).text
      const response = await node.request('POST', '/_api/endpoint', body)
      expect(response.status).toBe(400)
      const { errors, ...error } = response.json as ErrorObject
      expect(error).toEqual({
        error: true,
        code: 400,
        errorNum,
        errorMessage: expect.stringContaining(says),
        field,
      })
      const breaksSchema = error.errorMessage.startsWith('The body is invalid.')
      expect(errors?.[0]?.field).toBe(breaksSchema ? field : undefined)
      expect((await node.request('GET', '/_api/endpoint')).text).toBe(before)
    },
  )

  it.each(['application/x-www-form-urlencoded', 'text/plain'])(
    'reads a body of the type %s as JSON if a token is sent',
    async (type) => {
      const body = JSON.stringify({ endpoint: await freeAddress(), databases: [] })
      const headers = { 'Content-Type': type }
      expect((await node.request('POST', '/_api/endpoint', body, { headers })).status).toBe(200)
    },
  )

  it('returns 415 for another content type, naming the header, and 413 for a large body', async () => {
    const form = await node.request('POST', '/_api/endpoint', '{}', {
      headers: { 'Content-Type': 'text/xml' },
    })
    expect(form.status).toBe(415)
    expect(form.json.errorMessage).toContain('Content-Type')
    expect(form.json.field).toBe('Content-Type')
    const large = await node.request('POST', '/_api/endpoint', { endpoint: 'x'.repeat(2 ** 20) })
    expect(large.status).toBe(413)
    expect(large.json).toMatchObject({ error: true, code: 413, errorNum: 413 })
  })
})

describe('Remove an endpoint', () => {
  it('returns 200 for the percent-encoded address of an existing endpoint', async () => {
    const address = await freeAddress()
    await add(address)
    const response = await node.request('DELETE', endpointPath(address))
    expect(response.status).toBe(200)
    expect(response.headers['content-type']).toBe(JSON_UTF8)
    expect(response.json).toEqual(ACKNOWLEDGED)
    await expect(sendRequest(portOf(address), 'GET', '/')).rejects.toMatchObject({
      code: 'ECONNREFUSED',
    })
  })

  it('returns 404 with errorNum 1231 if it no longer exists', async () => {
    const address = await freeAddress()
    await add(address)
    await node.request('DELETE', endpointPath(address))
    const again = await node.request('DELETE', endpointPath(address))
    expect(again.status).toBe(404)
    expect(again.headers['content-type']).toBe(JSON_UTF8)
    expect(again.json).toEqual(ABSENT)
  })

  it('accepts every spelling of an address', async () => {
    const address = await freeAddress()
    await add(address)
    const spelled = address.replace('tcp', 'TCP')
    expect((await node.request('DELETE', endpointPath(spelled))).status).toBe(200)
  })

  it('accepts the address in the query, encoded or not, if it is given once', async () => {
    const endpoint = await freeAddress()
    const remove = (query: string, headers = {}) =>
      node.request('DELETE', `/_api/endpoint?${query}`, undefined, { headers })
    for (const text of [endpoint, encodeURIComponent(endpoint)]) {
      await add(endpoint)
      expect((await remove(`endpoint=${text}`, { 'If-Match': '"1"' })).status).toBe(412)
      for (const query of ['endpoint=', `endpoint=${text}&endpoint=${text}`])
        expect((await remove(query)).json).toMatchObject({ code: 400, errorNum: 10 })
      const twice = await node.request('DELETE', `${endpointPath(endpoint)}?endpoint=${text}`)
      expect(twice.json).toMatchObject({ code: 400, errorNum: 10 })
      expect((await remove(`endpoint=${text}`)).json).toEqual(ACKNOWLEDGED)
      expect((await remove(`endpoint=${text}`)).json).toEqual(ABSENT)
    }
  })

  it('returns 404 for an invalid address', async () => {
    expect((await node.request('DELETE', endpointPath('nonsense'))).json).toEqual(ABSENT)
    expect((await node.request('DELETE', '/_api/endpoint/%ff%fe')).json).toEqual(ABSENT)
  })

  it.each(['PUT', 'POST', 'PATCH'])('returns 405 for %s', async (method) => {
    const response = await node.request(method, endpointPath(node.address))
    expect(response.status).toBe(405)
    expect(response.headers.allow).toBe('DELETE')
  })

  it('requires the role operator also for an address with a line separator', async () => {
    for (const separator of ['\n', '\u2028']) {
      const path = `/_api/endpoint/${encodeURIComponent(separator)}`
      expect((await sendRequest(node.port, 'DELETE', path)).status).toBe(401)
      expect((await node.request('DELETE', path)).json).toEqual(ABSENT)
    }
  })
})

describe('Revisions', () => {
  const revisionOf = async (address: string): Promise<number> => {
    const listeners = (await node.request('GET', '/_api/listener')).json as {
      endpoint: string
      state: string
      revision: number
    }[]
    const found = listeners.find((each) => each.endpoint === address && each.state !== 'draining')
    return found?.revision ?? Number.NaN
  }

  it('changes and removes only the revision in If-Match', async () => {
    const endpoint = await freeAddress()
    await add(endpoint)
    const stale = await revisionOf(endpoint)
    const post = (revision: number | string, databases: string[]) =>
      node.request(
        'POST',
        '/_api/endpoint',
        { endpoint, databases },
        {
          headers: { 'If-Match': `${revision}` },
        },
      )
    expect((await post(`"${stale}"`, ['blog'])).status).toBe(200)
    const current = await revisionOf(endpoint)
    expect(current).toBeGreaterThan(stale)

    const refused = await post(stale, ['other'])
    expect(refused.status).toBe(412)
    expect(refused.json).toMatchObject({ error: true, code: 412, errorNum: 412 })
    const drop = (revision: number) =>
      node.request('DELETE', endpointPath(endpoint), undefined, {
        headers: { 'If-Match': `"${revision}"` },
      })
    expect((await drop(stale)).status).toBe(412)
    const records = (await node.request('GET', '/_api/endpoint')).json
    expect(records).toContainEqual({ endpoint, databases: ['blog'] })
    expect((await drop(current)).status).toBe(200)
  })

  it('accepts a list of revisions in If-Match, which a proxy may have marked as weak', async () => {
    const endpoint = await freeAddress()
    await add(endpoint)
    const post = (header: string, database: string, more?: Record<string, string>) =>
      node.request(
        'POST',
        '/_api/endpoint',
        { endpoint, databases: [database] },
        { headers: { 'If-Match': header, ...more } },
      )
    const drop = (header: string) =>
      node.request('DELETE', endpointPath(endpoint), undefined, { headers: { 'If-Match': header } })
    let current = await revisionOf(endpoint)
    expect((await post('"x", W/"1"', 'stale')).status).toBe(412)
    expect((await post(`"x,${current}"`, 'quoted')).status).toBe(412)
    expect((await post(`"${current}"`, 'both', { 'If-None-Match': '*' })).json).toMatchObject({
      code: 412,
      errorMessage: expect.stringContaining('exclude each other'),
    })
    expect((await post(`"x" , "${current}",W/"1"`, 'news')).status).toBe(200)
    current = await revisionOf(endpoint)
    expect((await post(`"x", W/"${current}"`, 'blog')).status).toBe(200)
    current = await revisionOf(endpoint)
    expect((await drop('W/"1"')).status).toBe(412)
    expect((await node.request('GET', '/_api/endpoint')).json).toContainEqual({
      endpoint,
      databases: ['blog'],
    })
    expect((await drop(`"x", W/"${current}"`)).status).toBe(200)
  })

  it('rejects If-Match for an absent endpoint and with an invalid revision', async () => {
    const endpoint = await freeAddress()
    const post = (header: string) =>
      node.request(
        'POST',
        '/_api/endpoint',
        { endpoint, databases: [] },
        { headers: { 'If-Match': header } },
      )
    expect((await post('*')).status).toBe(412)
    expect((await post('"7"')).status).toBe(412)
    expect((await post('W/"x"')).status).toBe(412)
    await expect(sendRequest(portOf(endpoint), 'GET', '/')).rejects.toMatchObject({
      code: 'ECONNREFUSED',
    })
  })
})

describe('If-None-Match: *', () => {
  it('adds an absent endpoint, and keeps the mapping of an existing one', async () => {
    const endpoint = await freeAddress()
    const onlyNew = (databases: string[]) =>
      node.request(
        'POST',
        '/_api/endpoint',
        { endpoint, databases },
        {
          headers: { 'If-None-Match': '*' },
        },
      )
    expect((await onlyNew(['blog'])).status).toBe(200)
    const again = await onlyNew(['other'])
    expect(again.json).toMatchObject({
      code: 412,
      errorMessage: expect.stringContaining('already'),
    })
    const records = (await node.request('GET', '/_api/endpoint')).json
    expect(records).toContainEqual({ endpoint, databases: ['blog'] })
  })
})

it('rejects any other If-None-Match, and changes nothing', async () => {
  const endpoint = await freeAddress()
  await node.request('POST', '/_api/endpoint', { endpoint, databases: ['blog'] })
  const path = `/_api/endpoint/${encodeURIComponent(endpoint)}`
  for (const [method, at, body, tag] of [
    ['POST', '/_api/endpoint', { endpoint, databases: ['other'] }, '"1"'],
    ['DELETE', path, undefined, '"1"'],
    ['DELETE', path, undefined, '*'],
  ] as const) {
    const rejected = await node.request(method, at, body, { headers: { 'If-None-Match': tag } })
    expect(rejected.json).toMatchObject({ code: 412, field: 'If-None-Match' })
  }
  const records = (await node.request('GET', '/_api/endpoint')).json
  expect(records).toContainEqual({ endpoint, databases: ['blog'] })
})

describe('The last endpoint that reaches _system', () => {
  it('is not removed or remapped until there is another', async () => {
    const refusal = { error: true, code: 409, errorNum: 1200 }
    const only = await startForTest()
    try {
      const removed = await only.request('DELETE', endpointPath(only.address))
      expect(removed.status).toBe(409)
      expect(removed.json).toMatchObject(refusal)
      const body = { endpoint: only.address, databases: ['blog'] }
      expect((await only.request('POST', '/_api/endpoint', body)).json).toMatchObject(refusal)
      expect((await only.request('GET', '/_api/endpoint')).json).toEqual([
        { endpoint: only.address, databases: [] },
      ])
      // A mapping that includes _system still gives admin access.
      body.databases = ['blog', '_system']
      expect((await only.request('POST', '/_api/endpoint', body)).status).toBe(200)

      const other = await freeAddress()
      await only.request('POST', '/_db/_system/_api/endpoint', { endpoint: other, databases: [] })
      const path = `/_db/_system${endpointPath(only.address)}`
      expect((await only.request('DELETE', path)).status).toBe(200)
      const last = await only.request('DELETE', endpointPath(other), undefined, {
        port: portOf(other),
      })
      expect(last.json).toMatchObject(refusal)
    } finally {
      await only.stop()
    }
  })

  it('keeps one of two that are removed concurrently', async () => {
    const pair = await startForTest()
    try {
      const other = await freeAddress()
      await pair.request('POST', '/_api/endpoint', { endpoint: other, databases: [] })
      const responses = await Promise.all([
        pair.request('DELETE', endpointPath(pair.address)),
        pair.request('DELETE', endpointPath(other)),
      ])
      expect(responses.map(({ status }) => status).sort()).toEqual([200, 409])
    } finally {
      await pair.stop()
    }
  })
})
