import { afterEach, beforeEach, expect, test } from 'vitest'
import { type EngineNode, forEachEngineNode } from '../test-support/each-engine-node.testing.ts'
import { type Receiver, startReceiver } from './receiver.testing.ts'

forEachEngineNode(
  (start) => {
    let node: EngineNode
    let receiver: Receiver

    beforeEach(async () => {
      node = await start({ webhookAllow: ['127.0.0.1'] })
      receiver = await startReceiver()
      for (const name of ['blog', 'shop']) await node.request('POST', '/_api/database', { name })
      await node.request('PUT', '/_db/blog/_feed/notes', {})
    })
    afterEach(() => node.stop())

    const tokenOf = async (role: string, databases: readonly string[]) => {
      const { json } = await node.request('POST', '/_api/token', { name: 'a', role, databases })
      return { Authorization: `Bearer ${json.token}` }
    }
    const send = (method: string, path: string, body?: unknown, headers = {}) =>
      node.request(method, `/_api/webhook${path}`, body, { headers })
    const hook = (more: object = {}) => ({
      ...{ name: 'hook', url: receiver.url, database: 'blog', collections: ['notes'] },
      ...more,
    })

    test('a webhook is created, changed, paused, resumed and deleted', async () => {
      const created = await send('POST', '', hook())
      expect(created.status).toBe(201)
      expect(created.json.secret).toMatch(/^whsec_/)
      expect(created.headers.location).toBe('/_api/webhook/hook')
      const { revision } = created.json.webhook
      const read = await send('GET', '/hook')
      expect(read.headers.etag).toBe(`"${revision}"`)
      expect(read.json).toMatchObject({ ...hook(), filter: '', state: 'active', reason: null })
      expect(read.json.creator).toBe('local:operator')
      expect((await send('GET', '')).json).toEqual([read.json])

      expect((await send('POST', '', hook())).json.field).toBe('/name')
      const other = { 'If-Match': '"1"' }
      const current = { 'If-Match': `"${revision}"` }
      for (const [method, path] of [
        ['PATCH', '/hook'],
        ['DELETE', '/hook'],
        ['POST', '/hook/pause'],
        ['POST', '/hook/resume'],
        ['POST', '/hook/secret'],
      ] as const) {
        const body = method === 'PATCH' ? { filter: 'n=1' } : undefined
        expect([path, (await send(method, path, body, other)).status]).toEqual([path, 412])
      }
      const changed = await send('PATCH', '/hook', { filter: 'n:gte=1' }, current)
      expect(changed.json).toMatchObject({ filter: 'n:gte=1', url: receiver.url })
      expect((await send('POST', '/hook/pause')).json).toMatchObject({
        state: 'paused',
        reason: 'Paused by local:operator.',
      })
      const resumed = await send('POST', '/hook/resume')
      expect(resumed.json).toMatchObject({ gaps: [], webhook: { state: 'active', reason: null } })
      const renewed = await send('POST', '/hook/secret')
      expect(renewed.json.secret).not.toBe(created.json.secret)
      expect(renewed.json.webhook.previousSecretUntil).not.toBeNull()
      expect((await send('DELETE', '/hook')).status).toBe(200)
      expect((await send('GET', '/hook')).status).toBe(404)
    })

    test('a collection needs a feed, and the input is checked', async () => {
      const none = await send('POST', '', hook({ collections: ['notes', 'tags'] }))
      expect([none.status, none.json.field]).toEqual([409, '/collections'])
      expect(none.json.errorMessage).toBe(
        'tags has no feed. An editor turns it on with PUT /_feed/tags.',
      )
      const invalid: [field: string, input: object][] = [
        ['/name', { name: 'a/b' }],
        ['/url', { url: 'ftp://example.org' }],
        ['/url', { url: 'https://user:secret@example.org/' }],
        ['/url', { url: 'http://169.254.169.254/latest/meta-data' }],
        ['/filter', { filter: 'sort=year' }],
        ['/filter', { filter: 'year:like=1' }],
        ['/collections', { collections: [] }],
        ['/collections', { collections: ['notes', 'notes'] }],
        ['/collections/0', { collections: ['_feed'] }],
      ]
      for (const [field, input] of invalid) {
        const { status, json } = await send('POST', '', hook(input))
        expect([input, status, json.field]).toEqual([input, 400, field])
      }
      expect((await send('POST', '', hook({ database: 'none' }))).status).toBe(404)
      expect((await send('GET', '')).json).toEqual([])
    })

    test('an editor has the webhooks of its databases, and a viewer none', async () => {
      await send('POST', '', hook())
      const ofBlog = await tokenOf('editor', ['blog'])
      const ofShop = await tokenOf('operator', ['shop'])
      const viewer = await tokenOf('viewer', ['blog'])
      expect((await send('GET', '', undefined, ofBlog)).json).toMatchObject([{ name: 'hook' }])
      expect((await send('GET', '', undefined, ofShop)).json).toEqual([])
      const requests: [method: string, path: string, body?: unknown][] = [
        ['GET', '/hook'],
        ['PATCH', '/hook', { filter: 'n=1' }],
        ['POST', '/hook/test'],
        ['POST', '/hook/pause'],
        ['POST', '/hook/resume'],
        ['POST', '/hook/secret'],
        ['GET', '/hook/delivery'],
        ['POST', '', hook({ name: 'second' })],
      ]
      for (const [method, path, body] of requests) {
        const statusOf = async (headers: object) => (await send(method, path, body, headers)).status
        expect([path, await statusOf(ofShop)]).toEqual([path, 403])
        expect([path, await statusOf(viewer)]).toEqual([path, 403])
        expect([path, await statusOf(ofBlog)]).toEqual([path, path === '' ? 201 : 200])
      }
      const [{ id }] = (await send('GET', '/hook/delivery')).json
      const again = `/hook/delivery/${id}/retry`
      expect((await send('POST', again, undefined, ofShop)).status).toBe(403)
      expect((await send('POST', again, undefined, ofBlog)).status).toBe(200)
      expect((await send('DELETE', '/hook', undefined, ofShop)).status).toBe(403)
      // The policy of an editor that is limited to a database does not reach the administration.
      const token = { name: 'b', role: 'viewer' }
      expect((await node.request('POST', '/_api/token', token, { headers: ofBlog })).status).toBe(
        403,
      )
    })

    test('a change reaches the receiver, and deliveries are listed and repeated', async () => {
      const { secret } = (await send('POST', '', hook())).json
      const test = await send('POST', '/hook/test')
      expect(test.json).toMatchObject({
        delivered: true,
        collection: null,
        outcome: { status: 204 },
      })
      expect(receiver.received[0]?.json).toMatchObject({
        type: 'webhook.test',
        data: { database: 'blog', webhook: 'hook' },
      })
      receiver.respond = (response) => response.writeHead(202, { 'X-Other': 'a' }).end('thanks')
      await node.request('POST', '/_db/blog/notes', { id: 'a', n: 1 })
      await expect.poll(() => receiver.received.length).toBe(2)
      const { position } = (await node.request('GET', '/_db/blog/_feed/notes/changes')).json[0]
      expect(receiver.received[1]?.json).toMatchObject({
        type: 'documents.changed',
        data: {
          ...{ database: 'blog', collection: 'notes' },
          changes: [{ position, id: 'a', change: 'created', document: { id: 'a', n: 1 } }],
        },
      })
      await expect.poll(async () => (await send('GET', '/hook/delivery')).json.length).toBe(2)
      const [delivery] = (await send('GET', '/hook/delivery')).json
      expect(delivery).toMatchObject({
        ...{ collection: 'notes', changes: 1, attempts: 1, delivered: true },
        request: { body: receiver.received[1]?.body },
        outcome: { status: 202, response: { body: 'thanks', bytes: 6 } },
      })
      const again = await send('POST', `/hook/delivery/${delivery.id}/retry`)
      expect(again.json).toMatchObject({ id: delivery.id, attempts: 2 })
      expect(receiver.received[2]?.body).toBe(receiver.received[1]?.body)
      expect((await send('POST', '/hook/delivery/none/retry')).status).toBe(404)

      const shown = await Promise.all(
        ['/_api/audit', '/_api/webhook', '/_api/webhook/hook/delivery', '/_db/blog/_export'].map(
          async (path) => (await node.request('GET', path)).text,
        ),
      )
      expect(shown.join()).not.toContain(secret.slice(6))
    })

    test('a database is dropped with its webhooks', async () => {
      await send('POST', '', hook())
      await node.request('DELETE', '/_api/database/blog')
      expect((await send('GET', '')).json).toEqual([])
    })
  },
  ['sqlite'],
)
