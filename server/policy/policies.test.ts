import { once } from 'node:events'
import { Agent, get } from 'node:http'
import { connect } from 'node:net'
import { expect, test, vi } from 'vitest'
import type { Policy } from '../contract/endpoints/policy.ts'
import { freePorts } from '../endpoints/listeners/free-ports.testing.ts'
import { type EngineNode, forEachEngineNode } from '../test-support/each-engine-node.testing.ts'
import { sendRequest } from '../test-support/start.testing.ts'
import { WAIT } from '../test-support/wait.testing.ts'

const pathOf = (endpoint: string, more = '') => `/_api/policy?endpoint=${endpoint}${more}`

/** Adds an endpoint that serves the database blog, with a document. */
async function addBlog({ request }: EngineNode, policy?: Policy) {
  const [port = 0] = await freePorts(1)
  const endpoint = `tcp://127.0.0.1:${port}`
  await request('POST', '/_api/database', { name: 'blog' })
  expect((await request('POST', '/_api/endpoint', { endpoint, databases: ['blog'] })).status).toBe(
    200,
  )
  await request('PUT', '/articles/1', { n: 1 }, { port, headers: { 'If-None-Match': '*' } })
  const set = (value: unknown, more = '', headers = {}) =>
    request('PUT', pathOf(endpoint, more), value, { headers })
  if (policy !== undefined) expect((await set(policy)).status).toBe(200)
  const send = (method: string, path: string, options = {}) =>
    sendRequest(port, method, path, options)
  const withToken = (method: string, path: string, body?: unknown, headers = {}) =>
    request(method, path, body, { port, headers })
  return { port, endpoint, set, send, withToken }
}

const stateOf = async ({ request }: EngineNode, endpoint: string) =>
  (await request('GET', `/_api/listener?endpoint=${endpoint}`)).json.map(
    ({ state }: { state: string }) => state,
  )

forEachEngineNode((start) => {
  test('a policy is read, changed with its revision, and removed', async () => {
    const node = await start()
    const { request } = node
    const { endpoint, set } = await addBlog(node)
    expect((await request('GET', pathOf(endpoint))).status).toBe(404)
    const created = await set({ note: 'for pages', closesIn: '2h' }, '', { 'If-None-Match': '*' })
    expect(created.json).toMatchObject({ endpoint, policy: { note: 'for pages' } })
    const { closesAt } = created.json.policy
    expect(Date.parse(closesAt) - Date.now()).toBeGreaterThan(7_100_000)
    const etag = String(created.headers.etag)
    expect((await set({}, '', { 'If-None-Match': '*' })).status).toBe(412)
    expect((await set({ readOnly: true }, '', { 'If-Match': etag })).status).toBe(200)
    expect((await set({ note: 'late' }, '', { 'If-Match': etag })).status).toBe(412)
    const listed = await request('GET', '/_api/policy')
    expect(listed.json).toMatchObject([{ endpoint, policy: { readOnly: true } }])
    // A mapping keeps the policy; removing the endpoint removes it.
    await request('POST', '/_api/endpoint', { endpoint, databases: ['blog', 'shop'] })
    expect((await request('GET', pathOf(endpoint))).status).toBe(200)
    const body = { endpoint, databases: ['blog', 'shop'] }
    const records = (await request('GET', `/_api/endpoint?endpoint=${endpoint}`)).json
    expect(records).toEqual([body])
    await request('DELETE', `/_api/endpoint?endpoint=${endpoint}`)
    expect((await request('GET', pathOf(endpoint))).status).toBe(404)
    const { rows } = (await request('GET', '/_api/audit')).json
    const done = rows.filter(({ outcome }: { outcome: string }) => outcome === 'done')
    expect(done.map(({ action }: { action: string }) => action).slice(0, 5)).toEqual([
      'endpoint.remove',
      'endpoint.map',
      'policy.set',
      'policy.set',
      'endpoint.add',
    ])
    expect(rows[0].before).toEqual({ databases: ['blog', 'shop'], policy: { readOnly: true } })
    await node.stop()
  })

  test('a policy can be stored before its endpoint, which opens with it', async () => {
    const node = await start()
    const { request } = node
    const [port = 0] = await freePorts(1)
    const endpoint = `tcp://127.0.0.1:${port}`
    await request('PUT', pathOf(endpoint), { enabled: false })
    await request('POST', '/_api/endpoint', { endpoint, databases: [] })
    expect(await stateOf(node, endpoint)).toEqual(['closed'])
    await expect(sendRequest(port, 'GET', '/healthz')).rejects.toThrow('ECONNREFUSED')
    await request('PUT', pathOf(endpoint), { enabled: true })
    await expect.poll(() => stateOf(node, endpoint)).toEqual(['listening'])
    expect((await sendRequest(port, 'GET', '/healthz')).status).toBe(200)
    await request('PUT', pathOf(endpoint), { enabled: false })
    await expect.poll(() => stateOf(node, endpoint)).toEqual(['closed'])
    await request('DELETE', pathOf(endpoint))
    await expect.poll(() => stateOf(node, endpoint)).toEqual(['listening'])
    await node.stop()
  })

  test('an endpoint is removed at its time, also if no node was running then', async () => {
    const node = await start()
    const { request } = node
    const { endpoint, set, send } = await addBlog(node)
    const closesAt = new Date(Date.now() + 300).toISOString()
    expect((await set({ closesAt })).status).toBe(200)
    await vi.waitFor(async () => {
      expect(await stateOf(node, endpoint)).not.toContain('listening')
      await expect(send('GET', '/healthz')).rejects.toThrow('ECONNREFUSED')
    }, WAIT)
    const { rows } = (await request('GET', '/_api/audit?what=endpoint')).json
    expect(rows[0]).toMatchObject({ action: 'endpoint.remove', actor: 'policy', by: 'system' })
    expect((await set({ closesAt })).status).toBe(400)
    await node.stop()
  })

  test('a policy that is tried returns unless it is confirmed', async () => {
    const node = await start()
    const { request } = node
    const { endpoint, set, withToken } = await addBlog(node, { note: 'before' })
    const first = await set({ readOnly: true }, '&try=5')
    expect(first.json).toEqual({ id: expect.any(String), until: expect.any(String) })
    expect((await withToken('POST', '/articles', {})).status).toBe(403)
    const other = (await request('POST', '/_api/token', { name: 'b', role: 'operator' })).json
    const confirm = (id: string, token?: string) =>
      request('POST', `/_api/policy-trial/${id}/confirm`, undefined, {
        headers: token === undefined ? {} : { Authorization: `Bearer ${token}` },
      })
    expect((await confirm(first.json.id, other.token)).status).toBe(404)
    expect((await confirm(first.json.id)).status).toBe(200)
    expect((await request('GET', pathOf(endpoint))).json.policy).toEqual({ readOnly: true })
    const second = await set({ note: 'tried' }, '&try=5')
    const policyNow = async () => (await request('GET', pathOf(endpoint))).json.policy
    expect(await policyNow()).toEqual({ note: 'tried' })
    await expect.poll(policyNow, WAIT).toEqual({ readOnly: true })
    expect((await withToken('POST', '/articles', {})).status).toBe(403)
    expect((await confirm(second.json.id)).status).toBe(404)
    await node.stop()
  })

  test('the last way to the administration stays', async () => {
    const node = await start()
    const { request, address } = node
    const policy = (value: unknown, endpoint = address) => request('PUT', pathOf(endpoint), value)
    const locking: Policy[] = [
      { enabled: false },
      { administration: false },
      { closesAt: new Date(Date.now() + 3_600_000).toISOString() },
      { allow: ['192.0.2.0/24'] },
      { deny: ['127.0.0.0/8'] },
    ]
    for (const value of locking) {
      const { status, json } = await policy(value)
      expect([value, status, json.errorNum]).toEqual([value, 409, 1200])
    }
    expect((await policy({ allow: ['127.0.0.1'], note: 'kept' })).status).toBe(200)
    const [port = 0] = await freePorts(1)
    const other = `tcp://127.0.0.1:${port}`
    await policy({ allow: ['192.0.2.0/24'] }, other)
    await request('POST', '/_api/endpoint', { endpoint: other, databases: [] })
    // The other endpoint does not admit the caller.
    expect((await policy({ administration: false })).status).toBe(409)
    await policy({}, other)
    expect((await policy({ administration: false })).status).toBe(200)
    const options = { port }
    const last = await request('PUT', pathOf(other), { enabled: false }, options)
    expect(last.status).toBe(409)
    const removal = await request('DELETE', `/_api/endpoint?endpoint=${other}`, undefined, options)
    expect(removal.status).toBe(409)
    await node.stop()
  })
})

forEachEngineNode((start) => {
  test('bulk changes set policies, and their undo restores endpoints with them', async () => {
    const node = await start()
    const { request } = node
    const [one, two] = (await freePorts(2)).map((port) => `tcp://127.0.0.1:${port}`) as [
      string,
      string,
    ]
    await request('POST', '/_api/endpoint', { endpoint: one, databases: ['blog'] })
    const policy = { readOnly: true, closesAt: '2020-01-01T00:00:00.000Z' }
    const made = await request('POST', '/_api/endpoint-change', {
      changes: [
        { endpoint: one, policy: { note: 'a' }, expectPolicy: null },
        { endpoint: two, databases: ['blog'], policy, expect: null },
      ],
    })
    expect(made.json).toMatchObject([{ state: 'made' }, { state: 'made' }])
    const policies = async () =>
      (await request('GET', '/_api/policy')).json.map(
        (each: { endpoint: string; policy: Policy }) => [each.endpoint, each.policy],
      )
    const both = [
      [one, { note: 'a' }],
      [two, { readOnly: true }],
    ].sort()
    expect(await policies()).toEqual(both)
    const removal = await request('POST', '/_api/endpoint-change', {
      changes: [{ endpoint: two, remove: true }],
    })
    const undo = (id: unknown) => request('POST', `/_api/endpoint-change/${id}/undo`)
    expect(await policies()).toEqual([both.find(([endpoint]) => endpoint === one)])
    expect((await undo(removal.headers['gatehouse-change'])).json).toMatchObject([
      { state: 'made' },
    ])
    expect(await policies()).toEqual(both)
    await request('PUT', pathOf(one), { note: 'changed since' })
    const undone = (await undo(made.headers['gatehouse-change'])).json
    const outcome = (endpoint: string) =>
      undone.find((each: { endpoint: string }) => each.endpoint === endpoint)
    expect([outcome(one).code, outcome(two).state]).toEqual([412, 'failed'])
    await node.stop()
  })
})

forEachEngineNode(
  (start) => {
    test('a request can be tested without sending it', async () => {
      const node = await start()
      const { request } = node
      const { endpoint } = await addBlog(node, { readOnly: true, deny: ['192.0.2.0/24'] })
      const decide = async (change: Record<string, unknown>) => {
        const response = await request('POST', '/_api/policy-test', {
          endpoint,
          client: '198.51.100.1',
          credential: { role: 'editor' },
          method: 'POST',
          path: '/articles',
          ...change,
        })
        return [response.status, response.json.rule]
      }
      const { token } = (await request('POST', '/_api/token', { name: 'v', role: 'viewer' })).json
      expect(await decide({})).toEqual([200, 'readOnly'])
      expect(await decide({ policy: {} })).toEqual([200, null])
      expect(await decide({ client: '::ffff:192.0.2.9' })).toEqual([200, 'allow'])
      expect(await decide({ credential: { token } })).toEqual([200, 'role'])
      expect(await decide({ credential: 'none' })).toEqual([200, 'credential'])
      expect(await decide({ path: '/_db/shop/articles' })).toEqual([200, 'database'])
      expect(await decide({ method: 'TRACE' })).toEqual([200, 'method'])
      expect(await decide({ method: 'GET' })).toEqual([200, null])
      expect(await decide({ client: 'x' })).toEqual([400, undefined])
      await node.stop()
    })

    test('each rule applies on the next request', async () => {
      const node = await start()
      const { request } = node
      const { endpoint, set, send, withToken } = await addBlog(node)
      expect((await send('GET', '/articles/1')).status).toBe(401)

      await set({ anonymous: { read: ['articles'] }, readOnly: true })
      expect((await send('GET', '/articles/1')).json).toMatchObject({ n: 1 })
      expect(
        (await send('GET', '/articles', { headers: { Prefer: 'respond-async' } })).status,
      ).toBe(200)
      for (const path of [
        '/notes',
        '/_index/articles',
        '/_schema/articles',
        '/_feed/articles',
        '/_feed/articles/changes',
        '/_export',
      ]) {
        expect([path, (await send('GET', path)).status]).toEqual([path, 401])
      }
      const invalid = { headers: { Authorization: 'Bearer x' } }
      expect((await send('GET', '/articles/1', invalid)).status).toBe(401)
      const rejected = await withToken('POST', '/articles', {})
      expect([rejected.status, rejected.json.rule]).toEqual([403, 'readOnly'])
      expect((await send('POST', '/articles')).status).toBe(401)

      await set({ cors: { origins: ['https://app.example'], maxAge: 60 } })
      const Origin = 'https://app.example'
      const preflight = { Origin, 'Access-Control-Request-Method': 'PUT' }
      const answer = await send('OPTIONS', '/articles/1', { headers: preflight })
      expect([answer.status, answer.headers]).toMatchObject([
        204,
        {
          'access-control-allow-origin': Origin,
          'access-control-allow-methods': 'GET, HEAD, POST, PUT, PATCH, DELETE',
          'access-control-max-age': '60',
          vary: 'Origin',
        },
      ])
      const failed = await send('GET', '/articles/1', { headers: { Origin } })
      expect([failed.status, failed.headers['access-control-allow-origin']]).toEqual([401, Origin])
      expect(failed.headers.vary).toMatch(/, Origin$/)
      const foreign = { ...preflight, Origin: 'https://evil.example' }
      const none = await send('OPTIONS', '/articles/1', { headers: foreign })
      expect(none.status).toBe(405)
      expect(none.headers['access-control-allow-origin']).toBe(undefined)

      await set({ maxBodyBytes: 10, rateLimit: { requestsPerSecond: 0.1, burst: 2 } })
      const large = await withToken('POST', '/articles', { text: 'x'.repeat(10) })
      expect([large.status, large.json.rule]).toEqual([413, 'maxBodyBytes'])
      expect((await withToken('GET', '/articles/1')).status).toBe(200)
      const limited = await withToken('GET', '/articles/1')
      expect([limited.status, limited.json.rule]).toEqual([429, 'rateLimit'])
      expect(limited.headers).toMatchObject({
        'retry-after': expect.stringMatching(/^(19|20)$/),
        ratelimit: expect.stringMatching(/^"endpoint";r=0;t=(19|20)$/),
        'ratelimit-policy': '"endpoint";q=2;w=20',
      })
      expect((await send('GET', '/healthz')).status).toBe(200)

      await request('POST', '/_api/endpoint', { endpoint, databases: [] })
      await set({ administration: false })
      for (const path of ['/_console/', '/_api/session', '/_api/endpoint', '/_idp/x']) {
        expect([path, (await withToken('GET', path)).status]).toEqual([path, 404])
      }
      expect((await send('GET', '/_api/health')).status).toBe(200)
      expect((await send('GET', '/')).json).toEqual({ service: 'gatehouse', database: '_system' })
      await node.stop()
    })

    test('clients that are not admitted are disconnected before anything is read', async () => {
      const node = await start()
      const { request } = node
      const { set, send, endpoint } = await addBlog(node)
      await set({ deny: ['::ffff:127.0.0.0/104'] })
      await expect(send('GET', '/healthz')).rejects.toThrow(/socket hang up|ECONNRESET/)
      await set({ allow: ['127.0.0.1', '::/0'] })
      expect((await send('GET', '/healthz')).status).toBe(200)
      await set({ allow: ['::/0'] })
      await expect(send('GET', '/healthz')).rejects.toThrow(/socket hang up|ECONNRESET/)
      const listed = await request('GET', `/_api/request?endpoint=${endpoint}&rejected=true`)
      expect(listed.json[0]).toMatchObject({ client: '127.0.0.1', method: null, rejected: 'allow' })
      const { text } = await request('GET', '/_api/metrics')
      expect(text).toContain(
        `gatehouse_refused_connections_total{endpoint="${endpoint}",rule="allow"} 2`,
      )
      await node.stop()
    })

    test('policies change while connections are busy, without an error', async () => {
      const node = await start()
      const { set, port } = await addBlog(node)
      const agent = new Agent({ keepAlive: true, maxSockets: 64 })
      const statuses = new Set<number>()
      let isChanging = true
      const read = (): Promise<void> =>
        new Promise((resolve, reject) => {
          const headers = { Authorization: `Bearer ${node.token}` }
          get({ port, path: '/articles/1', headers, agent }, (response) => {
            statuses.add(response.statusCode ?? 0)
            response.resume().once('end', resolve)
          }).once('error', reject)
        })
      const readers = Array.from({ length: 64 }, async () => {
        while (isChanging) await read()
      })
      for (let change = 0; change < 20; change++) {
        const policy = { note: String(change), readOnly: change % 2 === 0, allow: ['127.0.0.0/8'] }
        expect((await set(policy)).status).toBe(200)
      }
      isChanging = false
      await Promise.all(readers)
      agent.destroy()
      expect([...statuses]).toEqual([200])
      await node.stop()
    })

    test('connections and callers beyond their limits are rejected', async () => {
      const node = await start()
      const { request } = node
      const { set, send, port, endpoint } = await addBlog(node, { maxConnections: 1 })
      const first = connect(port, '127.0.0.1')
      await once(first, 'connect')
      const connections = async () =>
        (await request('GET', `/_api/listener?endpoint=${endpoint}`)).json[0].connections
      await expect.poll(connections).toBe(1)
      await expect(send('GET', '/healthz')).rejects.toThrow(/socket hang up|ECONNRESET/)
      first.destroy()
      await expect.poll(connections).toBe(0)
      expect((await send('GET', '/healthz')).status).toBe(200)

      const { token } = (await request('POST', '/_api/token', { name: 'v', role: 'viewer' })).json
      const status = async (bearer: string) =>
        (await send('GET', '/articles/1', { headers: { Authorization: `Bearer ${bearer}` } }))
          .status
      const limit = { requestsPerSecond: 0.01, burst: 1 }
      await set({ rateLimit: { ...limit, by: 'token' } })
      expect([await status(token), await status(node.token), await status(token)]).toEqual([
        200, 200, 429,
      ])
      await set({ rateLimit: { ...limit, by: 'endpoint' } })
      expect([await status(token), await status(node.token)]).toEqual([200, 429])
      await node.stop()
    })

    test('a client cannot forge or change the address that a policy compares', async () => {
      const node = await start({ trustedProxies: ['127.0.0.1', '10.0.0.2'] })
      const { set, send } = await addBlog(node)
      const from = async (forwarded?: string) =>
        (await send('GET', '/healthz', { headers: { 'X-Forwarded-For': forwarded ?? '' } })).status
      await set({ allow: ['192.0.2.7'] })
      expect(await from('192.0.2.7')).toBe(200)
      expect(await from('203.0.113.9')).toBe(403)
      // Behind one proxy and behind two: the client wrote the first entry.
      expect(await from('192.0.2.7, 203.0.113.9')).toBe(403)
      expect(await from('192.0.2.7, 203.0.113.9, 10.0.0.2')).toBe(403)
      expect(await from('203.0.113.9, 192.0.2.7, 10.0.0.2')).toBe(200)
      expect(await from('::ffff:192.0.2.7')).toBe(200)
      expect(await from('::ffff:c000:207')).toBe(200)
      // The proxy itself is no client that the policy admits.
      expect(await from()).toBe(403)
      await set({ rateLimit: { requestsPerSecond: 0.01, burst: 2 } })
      const read = async (client: string) =>
        (await send('GET', '/', { headers: { 'X-Forwarded-For': client } })).status
      expect(await read('2001:db8::1')).toBe(200)
      const { token } = node
      const count = async (client: string) => {
        const headers = { 'X-Forwarded-For': client, Authorization: `Bearer ${token}` }
        return (await send('GET', '/articles/1', { headers })).status
      }
      expect(await count('2001:db8::1')).toBe(200)
      expect(await count('2001:db8:0:0:ffff::2')).toBe(200)
      expect(await count('2001:db8::ffff:1:2:3')).toBe(429)
      expect(await count('2001:db8:0:1::1')).toBe(200)
      await node.stop()
    })

    test('pipelined requests, HTTP/1.0 and open connections do not pass a policy', async () => {
      const node = await start()
      const { set, port } = await addBlog(node)
      const head = (line: string) => `${line}\r\nHost: a\r\nAuthorization: Bearer ${node.token}\r\n`
      const read = `${head('GET /articles/1 HTTP/1.1')}\r\n`
      const socket = connect(port, '127.0.0.1')
      let received = ''
      socket.setEncoding('latin1').on('data', (text) => {
        received += text
      })
      const statuses = () =>
        [...received.matchAll(/HTTP\/1\.1 ([0-9]{3})/g)].map(([, code]) => code)
      await set({ rateLimit: { requestsPerSecond: 0.01, burst: 2 } })
      socket.write(read.repeat(5))
      await expect.poll(statuses).toEqual(['200', '200', '429', '429', '429'])
      await set({ deny: ['127.0.0.1'] })
      socket.write(read)
      await once(socket, 'close')
      expect(statuses().slice(5)).toEqual(['403'])
      expect(received).toContain('"rule":"allow"')

      await set({ readOnly: true })
      const old = connect(port, '127.0.0.1')
      let answer = ''
      old.setEncoding('latin1').on('data', (text) => {
        answer += text
      })
      old.write(`${head('DELETE /articles/1 HTTP/1.0')}\r\n`)
      await once(old, 'close')
      expect(answer).toMatch(/^HTTP\/1\.1 403/)
      await node.stop()
    })

    test('only a preflight request of a permitted page passes without a credential', async () => {
      const node = await start()
      const { set, send } = await addBlog(node)
      await set({ cors: { origins: ['*'] } })
      const Origin = 'https://evil.example'
      const asks = { Origin, 'Access-Control-Request-Method': 'GET' }
      const status = async (method: string, path: string, headers: Record<string, string>) =>
        (await send(method, path, { headers })).status
      expect(await status('OPTIONS', '/articles/1', asks)).toBe(204)
      expect(await status('OPTIONS', '/articles/1', { Origin })).toBe(405)
      expect(await status('GET', '/articles/1', asks)).toBe(401)
      const method = { ...asks, 'X-HTTP-Method-Override': 'OPTIONS' }
      expect(await status('DELETE', '/articles/1', method)).toBe(401)
      for (const path of ['/_db/_system/_api/endpoint', '/_api/health', '/_console/']) {
        const { headers } = await send('OPTIONS', path, { headers: asks })
        expect(headers['access-control-allow-origin']).toBe(undefined)
      }
      const { headers } = await send('GET', '/articles/1', { headers: { Origin } })
      expect(headers['access-control-allow-origin']).toBe('*')
      expect(headers['access-control-allow-credentials']).toBe(undefined)
      await node.stop()
    })

    test('unknown fields and invalid addresses are rejected', async () => {
      const node = await start()
      const { set, endpoint } = await addBlog(node)
      const reject = async (value: unknown, message: string) => {
        const { status, json } = await set(value)
        expect([status, json.errorMessage]).toEqual([400, expect.stringContaining(message)])
      }
      await reject({ readonly: true }, 'readOnly')
      await reject({ allow: ['127.0.0.1', '10.0.0.0/33'] }, '"10.0.0.0/33" is not an IP address')
      await reject({ deny: ['fe80::1%eth0'] }, 'is not an IP address')
      await reject({ closesIn: '2h', closesAt: '2099-01-01T00:00:00Z' }, 'either')
      await reject({ allow: Array(600).fill('::1'), deny: Array(600).fill('::1') }, '1,000')
      expect((await set({ allow: [] })).status).toBe(200)
      const unix = await node.request('PUT', pathOf('unix:///tmp/a.sock'), { deny: ['::1'] })
      expect([unix.status, unix.json.field]).toEqual([400, '/deny'])
      expect((await node.request('PUT', pathOf('x'), {})).status).toBe(400)
      expect(endpoint).toBeTruthy()
      await node.stop()
    })
  },
  ['sqlite'],
)
