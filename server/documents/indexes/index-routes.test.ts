import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createRecorder } from '../../audit/record.ts'
import { createTokenByCommand } from '../../cli/commands/token-create.ts'
import { type EngineNode, forEachEngineNode } from '../../test-support/each-engine-node.testing.ts'
import { sendRequest } from '../../test-support/start.testing.ts'

forEachEngineNode((start) => {
  let node: EngineNode
  const tokens = new Map<string, string>()

  beforeAll(async () => {
    node = await start()
    await node.request('POST', '/_api/database', { name: 'blog' })
    const store = await node.openStore()
    for (const role of ['viewer', 'operator', 'admin']) {
      const flags = { name: role, role }
      tokens.set(role, await createTokenByCommand(store, createRecorder(), flags, Date.now()))
    }
    await store.close()
  })
  afterAll(() => node.stop())

  const as = (role: string, method: string, path: string, body?: unknown, headers = {}) =>
    sendRequest(node.port, method, path, {
      body,
      headers: { Authorization: `Bearer ${tokens.get(role)}`, ...headers },
    })
  const by = (method: string, path: string, body?: unknown, headers = {}) =>
    as('operator', method, `/_db/blog${path}`, body, headers)
  const ready = (collection: string) =>
    expect
      .poll(async () => (await by('GET', `/_index/${collection}`)).json)
      .toSatisfy((list: { state: string }[]) => list.every(({ state }) => state === 'ready'))

  describe('/_index/<collection>', () => {
    it('creates an index, which serves queries, and deletes it', async () => {
      await by(
        'POST',
        '/articles',
        Array.from({ length: 40 }, (_, n) => ({ id: `d${n + 10}`, author: `a${n % 10}`, n })),
      )
      const scanned = await by('GET', '/articles?author=a3&sort=-n')
      expect(scanned.headers['query-plan']).toBe('scan; scanned=40; returned=4')
      const definition = { fields: ['author', '-n'] }
      const path = '/_index/articles/by-author'
      const made = await by('PUT', path, definition)
      expect([made.status, made.json]).toMatchObject([
        201,
        { name: 'by-author', fields: ['author', '-n'], unique: false, duplicates: [] },
      ])
      expect((await by('PUT', path, definition)).status).toBe(200)
      expect((await by('PUT', path, { fields: ['n'] })).json).toMatchObject({ id: 'conflict' })
      await ready('articles')
      const found = await by('GET', '/articles?author=a3&sort=-n')
      expect(found.headers['query-plan']).toBe('index=by-author; scanned=4; returned=4')
      expect([found.json, found.headers.etag]).toEqual([scanned.json, scanned.headers.etag])
      const first = await by('GET', '/articles?author=a3&sort=-n&limit=3')
      const next = /<([^>]+)>; rel="next"/.exec(String(first.headers.link))?.[1] ?? ''
      const second = await as('viewer', 'GET', next)
      expect([...first.json, ...second.json]).toEqual(found.json)
      const deleted = await by('DELETE', path)
      expect([deleted.status, deleted.json]).toMatchObject([200, { name: 'by-author' }])
      expect((await by('DELETE', path)).json).toMatchObject({ id: 'not_found' })
      expect((await by('GET', '/_index/articles')).json).toEqual([])
    })

    it('publishes an event when an index is ready, and when it is deleted', async () => {
      const list = Array.from({ length: 3_000 }, (_, n) => ({ id: `d${n}`, n }))
      await by('POST', '/large', list)
      const events = new AbortController()
      const { body } = await fetch(`http://127.0.0.1:${node.port}/_api/events`, {
        headers: { Authorization: `Bearer ${tokens.get('viewer')}` },
        signal: events.signal,
      })
      let text = ''
      // The states that the console shows: it reads the list after each event.
      const states: (string | undefined)[] = []
      const count = () => text.split('"type":"index"').length - 1
      const reading = (async () => {
        for await (const chunk of body ?? []) {
          text += Buffer.from(chunk).toString()
          while (states.length < count()) {
            states.push((await by('GET', '/_index/large')).json[0]?.state)
          }
        }
      })()
      await expect.poll(() => text).toContain('hello')
      await by('PUT', '/_index/large/by-n', { fields: ['n'] })
      await expect.poll(() => states.at(-1)).toBe('ready')
      await by('DELETE', '/_index/large/by-n')
      await expect.poll(() => states.at(-1)).toBeUndefined()
      events.abort()
      await expect(reading).rejects.toThrow(/abort/)
    })

    it('responds 409 to a document whose values a unique index already contains', async () => {
      await by('PUT', '/_index/users/by-email', { fields: ['email'], unique: true })
      await ready('users')
      await by('POST', '/users', { id: 'one', email: 'a@b' })
      const again = await by('POST', '/users', { id: 'two', email: 'a@b' })
      expect([again.status, again.json]).toEqual([
        409,
        {
          id: 'conflict',
          message: 'The index by-email is unique, and the document "one" has the same values.',
          field: '/email',
          index: 'by-email',
          document: 'one',
        },
      ])
    })

    it('responds 422 to a document whose values in all unique indexes are too large', async () => {
      const text = 'x'.repeat(600_000)
      await by('PUT', '/_index/long/one', { fields: ['text'], unique: true })
      expect((await by('POST', '/long', { id: 'early', text })).status).toBe(201)
      await by('PUT', '/_index/long/two', { fields: ['n', 'text'], unique: true })
      await ready('long')
      const rejected = {
        id: 'invalid',
        message: 'The values of this document in all unique indexes have more than 1 MiB together.',
        field: '/n',
      }
      for (const [method, path, body] of [
        ['POST', '/long', { id: 'a', n: 1, text }],
        ['PUT', '/long/early', { n: 1, text }],
        ['PATCH', '/long/early', { n: 1 }],
      ] as const) {
        const response = await by(method, path, body)
        expect([response.status, response.json]).toEqual([422, rejected])
      }
      const array = await by('POST', '/long', [
        { id: 'b', n: 2 },
        { id: 'c', n: 3, text },
      ])
      expect([array.status, array.json.message]).toEqual([422, rejected.message])
      const lines = [
        { id: 'd', n: 4, text },
        { id: 'e', n: 5, text: '' },
      ]
      const type = { 'Content-Type': 'application/x-ndjson' }
      const imported = await by(
        'POST',
        '/long',
        lines.map((each) => JSON.stringify(each)).join('\n'),
        type,
      )
      expect(imported.json).toMatchObject({
        created: 1,
        failed: 1,
        errors: [{ line: 1, pointer: '/n', message: rejected.message }],
      })
      expect((await by('DELETE', '/long/early')).status).toBe(200)
      const stored = await by('GET', '/long')
      expect(stored.json).toEqual([lines[1]])
    })

    it('requires the role operator, and records changes and rejections', async () => {
      const path = '/_db/blog/_index/secured/by-n'
      const definition = { fields: ['n'] }
      expect((await as('viewer', 'PUT', path, definition)).status).toBe(403)
      expect((await as('operator', 'PUT', path, definition)).status).toBe(201)
      expect((await as('viewer', 'GET', '/_db/blog/_index/secured')).status).toBe(200)
      expect((await as('viewer', 'DELETE', path)).status).toBe(403)
      const minimal = { Prefer: 'return=minimal' }
      expect((await as('operator', 'DELETE', path, undefined, minimal)).status).toBe(204)
      const { json } = await as('admin', 'GET', '/_api/audit?what=index.create')
      expect(
        json.rows.filter((row: { target: string }) => row.target.includes('secured')),
      ).toMatchObject([
        { target: 'blog/secured/by-n', outcome: 'done', after: { fields: ['n'], unique: false } },
        { target: 'blog/secured/by-n', outcome: 'refused', after: { refused: 'forbidden' } },
      ])
    })

    it.each([
      [{}, '/fields'],
      [{ fields: [] }, '/fields'],
      [{ fields: Array.from({ length: 9 }, (_, n) => `f${n}`) }, '/fields'],
      [{ fields: ['a', 1] }, '/fields/1'],
      [{ fields: ['a,b'] }, '/fields/0'],
      [{ fields: ['a'], unique: 'yes' }, '/unique'],
      [{ fields: ['a.b.c', '-a.b'], unique: true }, '/fields/0'],
      [{ fields: ['a'], uniq: true }, '/uniq'],
    ])('names the rejected part of %j', async (body, field) => {
      const response = await by('PUT', '/_index/articles/wrong', body)
      expect([response.status, response.json]).toMatchObject([400, { field }])
    })

    it.each(['Upper', '_a', '1a', 'a.b', 'graphql', 'a'.repeat(65)])(
      'rejects the name %s',
      async (name) => {
        const response = await by('PUT', `/_index/articles/${name}`, { fields: ['a'] })
        expect([response.status, response.json]).toMatchObject([
          400,
          { field: 'name', message: expect.stringContaining('graphql, healthz, metrics are') },
        ])
      },
    )

    it.each(['/_index/UPPER', '/_index/graphql'])('has no path %s', async (path) => {
      expect((await by('GET', path)).status).toBe(404)
    })
  })
})
