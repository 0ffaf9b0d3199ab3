import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { createRecorder } from '../audit/record.ts'
import { createTokenByCommand } from '../cli/commands/token-create.ts'
import { DEPTH } from '../contract/json-depth.ts'
import { type EngineNode, forEachEngineNode } from '../test-support/each-engine-node.testing.ts'
import { sendRequest, type TestResponse } from '../test-support/start.testing.ts'
import { WAIT } from '../test-support/wait.testing.ts'
import { readConditions } from './entity-tag.ts'
import { createSchemaChecker } from './schemas/schema-checker.ts'
import { createSchemas } from './schemas/schemas.ts'

// docs/http-api.md, "Conventions" and "Documents", row by row, by plain HTTP against a running
// server. All tests share one server, which is slow to start on two engines; hence the length of
// this file.

forEachEngineNode((start) => {
  let node: EngineNode
  const tokens = new Map<string, string>()

  beforeAll(async () => {
    node = await start()
    for (const name of ['blog', 'shop']) await node.request('POST', '/_api/database', { name })
    const store = await node.openStore()
    const flags: Record<string, Record<string, string>> = {
      viewer: { name: 'v', role: 'viewer' },
      operator: { name: 'o', role: 'operator' },
      'of blog': { name: 'b', role: 'operator', databases: 'blog' },
    }
    for (const [name, each] of Object.entries(flags)) {
      tokens.set(name, await createTokenByCommand(store, createRecorder(), each, Date.now()))
    }
    await store.close()
  })
  afterAll(() => node.stop())

  const as = (who: string, method: string, path: string, body?: unknown, headers = {}) =>
    sendRequest(node.port, method, `/_db/blog${path}`, {
      body,
      headers: { Authorization: `Bearer ${tokens.get(who)}`, ...headers },
    })
  const by = (method: string, path: string, body?: unknown, headers = {}) =>
    as('operator', method, path, body, headers)
  const created = async (body: object): Promise<TestResponse> => {
    const response = await by('POST', '/articles', body)
    expect(response.status).toBe(201)
    return response
  }

  describe('Endpoints', () => {
    it('POST /articles creates: 201, the object with its id, and Location', async () => {
      const response = await created({ title: 'One' })
      const { id, ...rest } = response.json
      expect(id).toMatch(/^[0-9a-hjkmnp-tv-z]{26}$/)
      expect(rest).toEqual({ title: 'One' })
      expect(response.headers.location).toBe(`/_db/blog/articles/${id}`)
      expect(response.headers['content-type']).toBe('application/json; version=1')
      expect((await by('GET', `/articles/${id}`)).json).toEqual({ id, title: 'One' })
    })

    it('POST /articles keeps a given id, and returns 409 if it exists', async () => {
      const id = 'a/b ü%'
      expect((await created({ id, n: 1 })).headers.location).toBe(
        `/_db/blog/articles/${encodeURIComponent(id)}`,
      )
      const again = await by('POST', '/articles', { id, n: 2 })
      expect(again.status).toBe(409)
      expect(again.json).toEqual({ id: 'conflict', message: expect.any(String), field: '/id' })
      const read = await by('GET', `/articles/${encodeURIComponent(id)}`)
      expect(read.json).toEqual({ id, n: 1 })
    })

    it('PUT /articles/<id> replaces: 200 with the object; 404 if absent', async () => {
      const { id } = (await created({ title: 'One', old: true })).json
      const response = await by('PUT', `/articles/${id}`, { title: 'Two' })
      expect(response.status).toBe(200)
      expect(response.json).toEqual({ id, title: 'Two' })
      expect((await by('GET', `/articles/${id}`)).json).toEqual({ id, title: 'Two' })
      expect((await by('PUT', '/articles/absent', { title: 'x' })).status).toBe(404)
    })

    it('PATCH /articles/<id> merges: 200 with the object; 404 if absent', async () => {
      const { id } = (await created({ title: 'One', tags: { a: 1, b: 2 } })).json
      const response = await by('PATCH', `/articles/${id}`, { tags: { a: null, c: 3 } })
      expect(response.status).toBe(200)
      expect(response.json).toEqual({ id, title: 'One', tags: { b: 2, c: 3 } })
      expect((await by('PATCH', '/articles/absent', {})).status).toBe(404)
    })

    it('DELETE /articles/<id> deletes: 200 with the object, or 204 with return=minimal', async () => {
      const one = (await created({ title: 'One' })).json
      const response = await by('DELETE', `/articles/${one.id}`)
      expect(response.status).toBe(200)
      expect(response.json).toEqual(one)
      expect((await by('GET', `/articles/${one.id}`)).status).toBe(404)
      expect((await by('DELETE', `/articles/${one.id}`)).status).toBe(404)

      const two = (await created({ title: 'Two' })).json
      const prefer = { Prefer: 'return=minimal' }
      const minimal = await by('DELETE', `/articles/${two.id}`, undefined, prefer)
      expect(minimal.status).toBe(204)
      expect(minimal.text).toBe('')
      expect(minimal.headers['preference-applied']).toBe('return=minimal')
    })

    it('GET /articles lists: 200, an array in the order of the ids, by code point', async () => {
      for (const id of ['b', 'a', 'Z', 'ä', '😀', 'a1']) await by('POST', '/sorted', { id })
      const response = await by('GET', '/sorted')
      expect(response.status).toBe(200)
      expect(response.json.map((each: { id: string }) => each.id)).toEqual([
        'Z',
        'a',
        'a1',
        'b',
        'ä',
        '😀',
      ])
      expect((await by('GET', '/nothing-here')).json).toEqual([])
    })

    it('POST /articles creates an array: all or none', async () => {
      const response = await by('POST', '/bulk', [{ id: '1' }, { id: '2' }, { n: 3 }])
      expect(response.status).toBe(201)
      expect(response.json).toHaveLength(3)
      expect((await by('POST', '/bulk', [{ id: '4' }, { id: '2' }])).status).toBe(409)
      expect((await by('POST', '/bulk', [{ id: '5' }, { id: '5' }])).status).toBe(409)
      expect((await by('POST', '/bulk', [{ id: '6' }, 7])).status).toBe(422)
      expect((await by('GET', '/bulk')).json).toHaveLength(3)
    })

    it('POST /articles creates a large array: all or none, and returns it as sent', async () => {
      // Unordered ids, and more bytes than one read returns.
      const many = Array.from({ length: 2_500 }, (_, n) => ({
        id: `m${(n * 7_919) % 10_000}`,
        text: 'ü'.repeat(n % 400),
      }))
      const { status, headers, text } = await by('POST', '/many', many)
      expect([status, text]).toEqual([201, JSON.stringify(many)])
      expect(headers['content-length']).toBe(String(Buffer.byteLength(text)))
      expect(headers.etag).toMatch(/^"[\w-]{22}"$/)
      expect((await by('GET', '/many?limit=1')).json).toEqual([{ id: 'm0', text: '' }])
      const count = async () => {
        const listing = await by('GET', '/many', undefined, { Prefer: 'respond-async' })
        const job = String(listing.headers.location).replace('/_db/blog', '')
        await expect.poll(async () => (await by('GET', job)).status).toBe(200)
        return (await by('GET', job)).json.found
      }
      const others = many.map(({ id }) => ({ id: `other-${id}` }))
      for (const [last, rejected, field] of [
        [{ id: 'm0' }, 409, undefined],
        [others[7], 409, '/2500/id'],
        [7, 422, '/2500'],
        [{ id: '' }, 422, '/2500/id'],
      ] as const) {
        const response = await by('POST', '/many', [...others, last])
        expect([response.status, response.json.field]).toEqual([rejected, field])
      }
      const broken = JSON.stringify(others).replace(/]$/, ',]')
      expect((await by('POST', '/many', broken)).status).toBe(400)
      expect(await count()).toBe(2_500)
    })

    it('POST /articles creates more than 10,000 documents in a job, with or without respond-async', async () => {
      const most = JSON.stringify(Array.from({ length: 10_000 }, (_, n) => ({ n })))
      expect((await by('POST', '/limited', most)).status).toBe(201)
      const more = await by('POST', '/limited', most.replace(/]$/, ',{}]'))
      expect([more.status, more.json]).toEqual([202, { id: expect.any(String), state: 'running' }])
      expect(more.headers).not.toHaveProperty('preference-applied')
      const job = String(more.headers.location).replace('/_db/blog', '')
      await expect.poll(async () => (await by('GET', job)).status).toBe(200)
      expect((await by('GET', job)).json).toMatchObject({ state: 'done', found: 10_001 })
    })
  })

  describe('Whole collections', () => {
    const some = [
      { id: '1', author: 'ada' },
      { id: '2', author: 'bob' },
      { id: '3', author: 'ada' },
    ]

    it('PATCH /articles merges into every matching document: 200', async () => {
      await by('POST', '/patched', some)
      const response = await by('PATCH', '/patched?author=ada', { on: true, author: null })
      expect([response.status, response.json]).toEqual([200, { changed: 2 }])
      expect(response.headers['content-type']).toBe('application/json; version=1')
      expect((await by('GET', '/patched')).json).toEqual([
        { id: '1', on: true },
        { id: '2', author: 'bob' },
        { id: '3', on: true },
      ])
      expect((await by('PATCH', '/nothing-here', {})).json).toEqual({ changed: 0 })
    })

    it.each(['{"id":"x"}', '{"id":null}', '[]', '"text"'])(
      'PATCH /articles rejects the patch %s: 422',
      async (patch) => {
        const response = await by('PATCH', '/articles', patch)
        expect([response.status, response.json.id]).toEqual([422, 'invalid'])
        const header = { Prefer: 'respond-async' }
        expect((await by('PATCH', '/articles', patch, header)).status).toBe(422)
      },
    )

    it('DELETE /articles deletes every matching document: 200', async () => {
      await by('POST', '/deleted', some)
      const response = await by('DELETE', '/deleted?author=ada')
      expect([response.status, response.json]).toEqual([200, { deleted: 2 }])
      expect((await by('GET', '/deleted')).json).toEqual([{ id: '2', author: 'bob' }])
      expect((await by('DELETE', '/deleted')).json).toEqual({ deleted: 1 })
    })

    it('reject paging parameters in changes: 400, and nothing is changed', async () => {
      await by('POST', '/paged', some)
      for (const query of ['limit=1', 'author=ada&after=1', 'limit=x']) {
        for (const headers of [{}, { Prefer: 'respond-async' }]) {
          for (const method of ['PATCH', 'DELETE']) {
            const patch = method === 'PATCH' ? { on: true } : undefined
            const response = await by(method, `/paged?${query}`, patch, headers)
            expect([response.status, response.json.id]).toEqual([400, 'bad_request'])
          }
        }
      }
      expect((await by('GET', '/paged')).json).toEqual(some)
    })

    it('return no body with return=minimal: 204', async () => {
      await by('POST', '/minimal', some)
      const prefer = { Prefer: 'return=minimal' }
      for (const [method, body] of [['PATCH', { read: true }], ['DELETE']] as const) {
        const response = await by(method, '/minimal', body, prefer)
        expect([response.status, response.text]).toEqual([204, ''])
        expect(response.headers['preference-applied']).toBe('return=minimal')
      }
      expect((await by('GET', '/minimal')).json).toEqual([])
    })

    it('reject conditional changes: 412, and nothing is changed', async () => {
      await by('POST', '/stated', some)
      const { etag } = (await by('GET', '/stated')).headers
      for (const headers of [
        { 'If-Match': String(etag) },
        { 'If-Match': '"stale"', Prefer: 'respond-async' },
        { 'If-None-Match': '*' },
      ]) {
        for (const method of ['PATCH', 'DELETE']) {
          const response = await by(method, '/stated', method === 'PATCH' ? {} : undefined, headers)
          expect([response.status, response.json.id]).toEqual([412, 'precondition_failed'])
        }
      }
      expect((await by('GET', '/stated')).headers.etag).toBe(etag)
      expect((await by('DELETE', '/stated', undefined, { 'If-Match': '*' })).status).toBe(200)
    })
  })

  describe('Asynchronous work (RFC 7240)', () => {
    const later = { Prefer: 'respond-async, wait=10' }
    const some = Array.from({ length: 150 }, (_, n) => ({ id: `d${100 + n}`, n: n % 2 }))
    const begun = async (method: string, path: string, body?: unknown): Promise<string> => {
      const response = await by(method, path, body, later)
      expect(response.status).toBe(202)
      expect(response.headers['preference-applied']).toBe('respond-async')
      expect(response.headers.location).toMatch(/^\/_db\/blog\/_job\/[A-Za-z0-9_-]{22}$/)
      return String(response.headers.location).replace('/_db/blog', '')
    }
    const ended = async (job: string): Promise<TestResponse> => {
      let response = await by('GET', job)
      await vi.waitUntil(async () => {
        if (response.status === 206) {
          expect(response.json.state).toBe('running')
          response = await by('GET', job)
        }
        return response.status !== 206
      }, WAIT)
      expect(response.status).toBe(200)
      return response
    }

    it('POST, PATCH and DELETE return 202 with the job, which returns 200 at the end', async () => {
      const post = await ended(await begun('POST', '/later', some))
      expect(post.json).toEqual({
        id: expect.any(String),
        kind: 'create',
        collection: 'later',
        state: 'done',
        done: 150,
        total: 150,
        found: 150,
        failure: null,
        created: expect.stringMatching(/Z$/),
        updated: expect.stringMatching(/Z$/),
      })
      expect((await by('GET', '/later?limit=1000')).json).toEqual(some)
      const patch = await ended(await begun('PATCH', '/later?n=1', { n: 2 }))
      expect(patch.json).toMatchObject({ kind: 'patch', state: 'done', done: 150, found: 75 })
      expect((await by('GET', '/later?n=2')).json).toHaveLength(75)
      const deleted = await ended(await begun('DELETE', '/later?n=2'))
      expect(deleted.json).toMatchObject({ kind: 'delete', state: 'done', found: 75 })
      expect((await by('GET', '/later?limit=1000')).json).toHaveLength(75)
    })

    it('GET returns 206 with the first part and the job', async () => {
      await by('POST', '/gathered', some)
      const first = await by('GET', '/gathered?n=1&limit=10', undefined, later)
      expect(first.status).toBe(206)
      expect(first.headers['preference-applied']).toBe('respond-async')
      const wanted = some.filter(({ n }) => n === 1)
      expect(first.json).toEqual(wanted.slice(0, 10))
      let path: string | undefined = `${first.headers.location}?limit=40`
      const sizes: number[] = []
      const seen: unknown[] = []
      await ended(String(first.headers.location).replace('/_db/blog', ''))
      while (path !== undefined) {
        const response: TestResponse = await by('GET', path.replace('/_db/blog', ''))
        expect(response.json).toMatchObject({ kind: 'list', state: 'done', found: 75 })
        sizes.push(response.json.documents.length)
        seen.push(...response.json.documents)
        path = /<([^>]+)>; rel="next"/.exec(String(response.headers.link))?.[1]
      }
      expect(sizes).toEqual([40, 35])
      for (const limit of ['0', '1001', 'x']) {
        const path = `${first.headers.location}?limit=${limit}`.replace('/_db/blog', '')
        expect((await by('GET', path)).status).toBe(400)
      }
      expect(seen).toEqual(wanted)
    })

    it('GET returns the results of one scan step, and the job continues', async () => {
      const many = Array.from({ length: 1_001 }, (_, n) => ({ id: `d${1_000 + n}`, n }))
      await by('POST', '/sparse', many)
      const first = await by('GET', '/sparse?n=1000', undefined, later)
      expect([first.status, first.json]).toEqual([206, []])
      expect(first.headers.link).toContain('after=d1999')
      const job = await ended(String(first.headers.location).replace('/_db/blog', ''))
      expect(job.json.documents).toEqual(many.slice(-1))
    })

    it('GET reads the results of a job from the collection, up to the end of the job', async () => {
      await by('POST', '/living', some)
      const first = await by('GET', '/living?n=1', undefined, later)
      const job = String(first.headers.location).replace('/_db/blog', '')
      expect((await ended(job)).json).toMatchObject({ found: 75 })
      await by('DELETE', '/living/d101')
      await by('PATCH', '/living/d103', { n: 0 })
      await by('POST', '/living', { id: 'd999', n: 1 })
      const { json } = await by('GET', job)
      expect(json.documents).toEqual(some.filter(({ id, n }) => n === 1 && id > 'd103'))
    })

    it('GET of the results scans a bounded part of the collection', async () => {
      const large = Array.from({ length: 24 }, (_, n) => ({
        id: `d${100 + n}`,
        last: n === 23,
        text: 'x'.repeat(1_000_000),
      }))
      await by('POST', '/scanned', large)
      const first = await by('GET', '/scanned?last=true', undefined, later)
      const job = String(first.headers.location).replace('/_db/blog', '')
      const page = await ended(job)
      expect(page.json).toMatchObject({ state: 'done', found: 1, documents: [] })
      expect(page.headers.link).toBe(`<${first.headers.location}?after=d119>; rel="next"`)
      const rest = await by('GET', `${job}?after=d119`)
      expect(rest.json.documents).toEqual(large.slice(-1))
      expect(rest.headers.link).toBeUndefined()
    })

    it('ends with 200 and the failure that a synchronous request would get', async () => {
      await by('POST', '/failing', { id: 'd120' })
      const response = await ended(await begun('POST', '/failing', some))
      expect(response.json).toMatchObject({
        state: 'failed',
        failure: { id: 'conflict', message: 'A document with the id "d120" exists already.' },
      })
      expect((await by('GET', '/failing')).json).toEqual([{ id: 'd120' }])
    })

    it('validates against the schema before and during the job', async () => {
      await by('POST', '/schooled', [...some.slice(0, 9), { id: 'x' }])
      await by('PUT', '/_schema/schooled', { required: ['n'], properties: { n: { maximum: 5 } } })
      const many = [...some.slice(9), ...Array.from({ length: 300 }, () => ({ n: 1 })), { n: 6 }]
      const refused = await by('POST', '/schooled', many, later)
      expect(refused.status).toBe(422)
      expect(refused.json.violations).toMatchObject([{ pointer: '/441/n' }])
      const failed = await ended(await begun('PATCH', '/schooled', { on: true }))
      expect(failed.json).toMatchObject({
        state: 'failed',
        failure: { id: 'invalid', violations: [{ pointer: '' }] },
      })
      expect(failed.json.failure.message).toContain('"x": ')
      expect((await by('PATCH', '/schooled', { on: true })).status).toBe(422)
      expect((await by('PATCH', '/schooled?n=1', { n: 5 })).json).toEqual({ changed: 4 })
      expect((await by('GET', '/schooled?on=true')).json).toEqual([])
    })

    it('rejects invalid requests immediately', async () => {
      for (const [body, status] of [
        ['[{"id":"a"},{"id":"a"}]', 409],
        ['[{"id":5}]', 422],
        ['[1', 400],
      ] as const) {
        expect((await by('POST', '/refused', body, later)).status).toBe(status)
      }
      const second = await by('POST', '/refused', '[{"id":"a"},{"b":[1,{"c":-0}]}]', later)
      expect([second.status, second.json.field]).toEqual([422, '/1/b/1/c'])
      expect((await as('viewer', 'DELETE', '/later', undefined, later)).status).toBe(403)
      expect((await by('GET', '/refused')).json).toEqual([])
    })

    it('does not apply to a single object', async () => {
      const response = await by('POST', '/single', { id: 'one' }, later)
      expect([response.status, response.headers['preference-applied']]).toEqual([201, undefined])
    })

    it('is not started by HEAD or by another preference', async () => {
      const head = await by('HEAD', '/later', undefined, later)
      expect([head.status, head.headers.location]).toEqual([200, undefined])
      const other = { Prefer: 'respond-asynchronously' }
      expect((await by('GET', '/later', undefined, other)).status).toBe(200)
    })

    it('is visible only in its database and with permission to read', async () => {
      const job = await begun('DELETE', '/nothing-here')
      expect((await as('viewer', 'GET', job)).status).not.toBe(403)
      expect((await node.request('GET', `/_db/shop${job}`)).status).toBe(404)
      expect((await node.request('GET', job)).status).toBe(404)
      expect((await sendRequest(node.port, 'GET', `/_db/blog${job}`)).status).toBe(401)
      expect((await by('GET', '/_job/absent')).json).toMatchObject({ id: 'not_found' })
    })
  })

  describe('Paging and filters', () => {
    it('links each page to the next', async () => {
      await by(
        'POST',
        '/pages',
        Array.from({ length: 25 }, (_, n) => ({ id: `p${100 + n}`, n })),
      )
      const seen: number[] = []
      let path: string | undefined = '/pages?limit=10'
      const sizes: number[] = []
      while (path !== undefined) {
        const response: TestResponse = await by('GET', path)
        sizes.push(response.json.length)
        seen.push(...response.json.map((each: { n: number }) => each.n))
        path = /<\/_db\/blog([^>]+)>; rel="next"/.exec(String(response.headers.link))?.[1]
      }
      expect(sizes).toEqual([10, 10, 5])
      expect(seen).toEqual(Array.from({ length: 25 }, (_, n) => n))
    })

    it('has no link after the last document', async () => {
      expect((await by('GET', '/pages?limit=25')).headers.link).toBeUndefined()
      expect((await by('GET', '/pages?limit=24')).headers.link).toContain('after=p123')
    })

    it.each(['0', '1001', 'x', '-1', ''])('returns 400 for limit=%s', async (limit) => {
      const response = await by('GET', `/pages?limit=${limit}`)
      expect(response.status).toBe(400)
      expect(response.json).toMatchObject({ id: 'bad_request', field: 'limit' })
    })

    it('ends a page before 16 MiB, and links to the next', async () => {
      // Half as many characters as bytes.
      const text = 'é'.repeat(2 ** 19 - 20)
      const large = Array.from({ length: 20 }, (_, n) => ({ id: `l${100 + n}`, text }))
      await by('POST', '/large', large)
      await by(
        'POST',
        '/large',
        Array.from({ length: 150 }, (_, n) => ({ id: `s${100 + n}`, text: 'small' })),
      )
      const pages = async (query: string) => {
        const sizes: number[] = []
        let path: string | undefined = `/large?${query}`
        while (path !== undefined) {
          const response: TestResponse = await by('GET', path)
          sizes.push(response.json.length)
          path = /<\/_db\/blog([^>]+)>; rel="next"/.exec(String(response.headers.link))?.[1]
        }
        return sizes
      }
      expect(await pages('limit=19')).toEqual([16, 19, 19, 19, 19, 19, 19, 19, 19, 2])
      expect(await pages('limit=1000')).toEqual([16, 154])
      expect(await pages(`limit=1000&text=${'x'.repeat(9)}`)).toEqual([0])
      expect(await pages('limit=1000&text=small')).toEqual([150])
      const listing = await by('GET', '/large', undefined, { Prefer: 'respond-async' })
      const job = String(listing.headers.location).replace('/_db/blog', '')
      await expect.poll(async () => (await by('GET', `${job}?limit=1`)).json.state).toBe('done')
      const found = await by('GET', `${job}?limit=1000`)
      expect(found.json.documents).toHaveLength(16)
      expect(found.headers.link).toContain('after=l115')
    })

    it('filters by equality with a text or a JSON value', async () => {
      await by('POST', '/filtered', [
        { id: '1', author: 'ada', n: 5 },
        { id: '2', author: 'bob', n: '5' },
        { id: '3', n: null, on: true },
        { id: '4', author: 'ada', n: 6 },
      ])
      const ids = async (query: string) =>
        (await by('GET', `/filtered?${query}`)).json.map((each: { id: string }) => each.id)
      expect(await ids('author=ada')).toEqual(['1', '4'])
      expect(await ids('author=ada&n=6')).toEqual(['4'])
      expect(await ids('n=5')).toEqual(['1', '2'])
      expect(await ids('n=null')).toEqual(['3'])
      expect(await ids('on=true')).toEqual(['3'])
      expect(await ids('toString=x')).toEqual([])
      const many = (count: number) => `/filtered?limit=9&${'author=ada&'.repeat(count)}`
      expect((await by('GET', many(50))).json).toHaveLength(2)
      for (const method of ['GET', 'PATCH', 'DELETE']) {
        const body = method === 'PATCH' ? {} : undefined
        const refused = await by(method, many(51).replace('limit=9&', ''), body)
        expect([refused.status, refused.json.message]).toEqual([
          400,
          'The query has 51 filters. The maximum is 50.',
        ])
      }
      const page = await by('GET', '/filtered?author=ada&limit=1')
      expect(page.headers.link).toBe('</_db/blog/filtered?author=ada&limit=1&after=1>; rel="next"')
    })
  })

  describe('Queries', () => {
    const people = [
      { id: '1', name: 'ada', born: 1815, of: { town: 'London' } },
      { id: '2', name: 'bob', born: 1960, of: { town: 'Ulm' }, 'of.town': 'x' },
      { id: '3', name: 'cy' },
      { id: '4', name: 'dee', born: 1906, tags: ['navy', 'cobol'] },
    ]
    const ids = ({ json }: TestResponse) => json.map(({ id }: { id: string }) => id)

    it.each<[query: string, ids: readonly string[]]>([
      ['of.town=London', ['1']],
      ['of\\.town=x', ['2']],
      ['born:gte=1906', ['2', '4']],
      ['born:exists=false', ['3']],
      ['name:in=ada,dee', ['1', '4']],
      ['name:ne=ada&born:lt=1950', ['4']],
      ['tags:contains=cobol', ['4']],
      ['name:starts=d', ['4']],
      ['sort=born', ['3', '1', '4', '2']],
      ['sort=-born&limit=2', ['2', '4']],
      ['sort=of.town,-name', ['4', '3', '1', '2']],
    ])('%s', async (query, expected) => {
      const made = await by('POST', '/people', people)
      expect([201, 409]).toContain(made.status)
      const response = await by('GET', `/people?${query}`)
      expect([response.status, ids(response)]).toEqual([200, expected])
      expect(response.headers['query-plan']).toBe(`scan; scanned=4; returned=${expected.length}`)
    })

    it('page by a cursor that belongs to the query', async () => {
      const otherCharacter = (character: string) => (character === '_' ? '-' : '_')
      const first = await by('GET', '/people?sort=-born&limit=3')
      const link = /<\/_db\/blog([^>]+)>/.exec(String(first.headers.link))?.[1] ?? ''
      expect(ids(await by('GET', link))).toEqual(['3'])
      for (const [other, message] of [
        [link.replace('-born', 'born'), /does not belong to this query/],
        [link.replace('people', 'other'), /does not belong to this query/],
        [link.replace(/(?<=cursor=.{20})./, otherCharacter), /does not belong to this query/],
        [`${link}&after=1`, /order of ids only/],
      ] as const) {
        const response = await by('GET', other)
        expect([response.status, response.json.id]).toEqual([400, 'bad_request'])
        expect(response.json.message).toMatch(message)
      }
    })

    it('return selected fields in their nesting', async () => {
      const response = await by('GET', '/people?fields=of.town,born&sort=id&limit=2')
      expect(response.json).toEqual([
        { id: '1', born: 1815, of: { town: 'London' } },
        { id: '2', born: 1960, of: { town: 'Ulm' } },
      ])
      expect((await by('GET', '/people?fields=none&limit=1')).text).toBe('[{"id":"1"}]')
    })

    it('count only on request', async () => {
      const count = { Prefer: 'count=exact' }
      for (const [query, total] of [
        ['limit=1', '4'],
        ['limit=1&after=1', '4'],
        ['name:gt=ada&limit=2', '3'],
        ['sort=name&limit=1', '4'],
      ]) {
        const { headers } = await by('GET', `/people?${query}`, undefined, count)
        expect(headers).toMatchObject({
          'x-total-count': total,
          'preference-applied': 'count=exact',
        })
      }
      const { headers } = await by('GET', '/people?limit=1')
      expect(headers).not.toHaveProperty('x-total-count')
      const tag = (await by('GET', '/people?limit=1', undefined, count)).headers.etag
      await by('POST', '/people', { id: '5' })
      const again = await by('GET', '/people?limit=1', undefined, {
        ...count,
        'If-None-Match': String(tag),
      })
      expect([again.status, again.headers['x-total-count']]).toEqual([200, '5'])
    })

    it('select the documents that PATCH and DELETE change', async () => {
      await by('POST', '/chosen', people)
      expect((await by('PATCH', '/chosen?born:gt=1900', { old: false })).json).toEqual({
        changed: 2,
      })
      expect((await by('DELETE', '/chosen?of.town:exists=true')).json).toEqual({ deleted: 2 })
      expect(ids(await by('GET', '/chosen'))).toEqual(['3', '4'])
      const paged = await by('DELETE', '/chosen?sort=name')
      expect([paged.status, paged.json.field]).toEqual([400, 'sort'])
    })

    it('are rejected with an explanation', async () => {
      const like = await by('GET', '/people?name:like=a')
      expect([like.status, like.json.field]).toEqual([400, 'name:like'])
      expect(like.json.message).toMatch(/"like" is not an operator. Operators are eq, ne, /)
    })
  })

  describe('PUT with If-None-Match: *', () => {
    const absent = { 'If-None-Match': '*' }

    it('creates a document with that id, once', async () => {
      const made = await by('PUT', '/put/a%20b', { n: 1 }, absent)
      expect([made.status, made.json]).toEqual([201, { id: 'a b', n: 1 }])
      expect(made.headers.location).toBe('/_db/blog/put/a%20b')
      expect((await by('GET', '/put/a%20b')).headers.etag).toBe(made.headers.etag)
      expect((await by('PUT', '/put/a%20b', { n: 2 }, absent)).status).toBe(412)
    })

    it('rejects ids that no document can have', async () => {
      for (const id of ['x'.repeat(257), '%00']) {
        const response = await by('PUT', `/put/${id}`, {}, absent)
        expect(response.status).toBe(422)
      }
      expect(ids(await by('GET', '/put'))).toEqual(['a b'])
    })

    const ids = ({ json }: TestResponse) => json.map(({ id }: { id: string }) => id)
  })

  describe('Entity tags', () => {
    it('return 304 for a known state and 412 for a change of another state', async () => {
      const made = await created({ n: 1 })
      const { id } = made.json
      const tag = String(made.headers.etag)
      expect(tag).toMatch(/^"[A-Za-z0-9_-]{12}"$/)
      const read = await by('GET', `/articles/${id}`)
      expect(read.headers.etag).toBe(tag)
      const again = await by('GET', `/articles/${id}`, undefined, { 'If-None-Match': tag })
      expect([again.status, again.text]).toEqual([304, ''])

      const put = await by('PUT', `/articles/${id}`, { n: 2 }, { 'If-Match': tag })
      expect(put.status).toBe(200)
      expect(put.headers.etag).not.toBe(tag)
      for (const method of ['PUT', 'PATCH', 'DELETE']) {
        const stale = await by(
          method,
          `/articles/${id}`,
          method === 'DELETE' ? undefined : { n: 3 },
          {
            'If-Match': tag,
          },
        )
        expect(stale.status).toBe(412)
        expect(stale.json).toMatchObject({ id: 'precondition_failed' })
      }
      expect((await by('GET', `/articles/${id}`)).json).toEqual({ id, n: 2 })
      const any = { 'If-Match': '*' }
      expect((await by('PATCH', `/articles/${id}`, { n: 4 }, any)).status).toBe(200)
      expect((await by('PUT', '/articles/absent', {}, any)).status).toBe(412)
    })

    it('are compared weakly to read and strongly to change (RFC 9110)', async () => {
      const { json, headers } = await created({ n: 1 })
      const path = `/articles/${json.id}`
      const weak = `W/${headers.etag}`
      const cached = await by('GET', path, undefined, { 'If-None-Match': `"other", ${weak}` })
      expect([cached.status, cached.headers.etag]).toEqual([304, headers.etag])
      for (const [at, conditions] of [
        [path, { 'If-Match': weak }],
        [path, { 'If-None-Match': weak }],
        [path, { 'If-None-Match': '*' }],
        ['/articles/absent', { 'If-Match': '*' }],
      ] as const) {
        expect((await by('DELETE', at, undefined, conditions)).status).toBe(412)
        expect((await by('PUT', at, { n: 2 }, conditions)).status).toBe(412)
      }
      const stale = { 'If-Match': `"other"` }
      expect((await by('GET', path, undefined, stale)).status).toBe(412)
      const either = { 'If-Match': `"other", ${headers.etag}` }
      expect((await by('DELETE', path, undefined, either)).status).toBe(200)
    })

    it('identify a whole page, too', async () => {
      await by('POST', '/tagged', { id: '1' })
      const { etag } = (await by('GET', '/tagged')).headers
      const cached = { 'If-None-Match': String(etag) }
      expect((await by('GET', '/tagged', undefined, cached)).status).toBe(304)
      await by('PUT', '/tagged/1', { n: 1 })
      const { status, headers } = await by('GET', '/tagged', undefined, cached)
      expect([status, headers.etag === etag]).toEqual([200, false])
      const again = { 'If-None-Match': String(headers.etag) }
      await by('POST', '/tagged', { id: '2' })
      expect((await by('GET', '/tagged', undefined, again)).status).toBe(200)
    })

    it('serialize 1,000 concurrent updates', async () => {
      await by('POST', '/chain', { id: 'c', by: [] })
      let accepted = 0
      /** Adds a link to the state that was read; returns false if it has changed. */
      const link = async (n: number) => {
        const { headers, json } = await by('GET', '/chain/c')
        const body = { by: [...json.by, n] }
        const response = await by('PUT', '/chain/c', body, { 'If-Match': String(headers.etag) })
        expect([200, 412]).toContain(response.status)
        if (response.status === 200) accepted++
      }
      for (let n = 0; n < 1000; n += 50) {
        await Promise.all(Array.from({ length: 50 }, (_, at) => link(n + at)))
      }
      const links = (await by('GET', '/chain/c')).json.by
      expect(links).toHaveLength(accepted)
      expect(new Set(links).size).toBe(accepted)
      expect(accepted).toBeGreaterThan(0)
      expect(accepted).toBeLessThan(1000)
    })
  })

  describe('Versioning', () => {
    it('serves the requested version and names it', async () => {
      const { id } = (await created({})).json
      const accept = (value: string) => by('GET', `/articles/${id}`, undefined, { Accept: value })
      for (const value of [
        'application/json; version=1',
        'application/json;version="1"',
        'application/json; version=7, application/json; version=1',
        '*/*',
      ]) {
        const response = await accept(value)
        expect(response.status).toBe(200)
        expect(response.headers['content-type']).toBe('application/json; version=1')
      }
      const unknown = await accept('application/json; version=7')
      expect(unknown.status).toBe(406)
      expect(unknown.headers['content-type']).toBe('application/json')
      expect(unknown.json).toEqual({
        id: 'not_acceptable',
        message: 'Version 7 is not supported. Supported: 1.',
        field: 'Accept',
      })
    })

    it('rejects an unknown version before anything is changed', async () => {
      const accept = { Accept: 'application/json; version=2' }
      const stored = (await by('POST', '/unversioned', { id: '1' })).json
      for (const [method, path, body] of [
        ['POST', '/unversioned', { id: '2' }],
        ['POST', '/unversioned', [{ id: '2' }]],
        ['PUT', '/unversioned/1', { n: 1 }],
        ['PATCH', '/unversioned/1', { n: 1 }],
        ['DELETE', '/unversioned/1'],
        ['PATCH', '/unversioned', { n: 1 }],
        ['DELETE', '/unversioned'],
        ['PUT', '/_schema/unversioned', false],
      ] as const) {
        for (const prefer of [{}, { Prefer: 'respond-async' }]) {
          const response = await by(method, path, body, { ...accept, ...prefer })
          expect([method, path, response.status]).toEqual([method, path, 406])
        }
      }
      expect((await by('GET', '/unversioned')).json).toEqual([stored])
      expect((await by('POST', '/unversioned', {})).status).toBe(201)
    })
  })

  describe('Authentication', () => {
    it('accepts the token as the user name of the URL', async () => {
      const basic = (user: string) => `Basic ${Buffer.from(user).toString('base64')}`
      const send = (authorization: string) =>
        sendRequest(node.port, 'GET', '/_db/blog/articles', {
          headers: { Authorization: authorization },
        })
      expect((await send(basic(`${tokens.get('viewer')}:`))).status).toBe(200)
      const wrong = await send(basic(`${tokens.get('viewer')}:password`))
      expect(wrong.status).toBe(401)
      expect(wrong.json).toEqual({ id: 'auth_failed', message: expect.any(String) })
    })

    it('returns 401 and auth_failed without a token, for every method', async () => {
      for (const [method, path] of [
        ['GET', '/articles'],
        ['POST', '/articles'],
        ['GET', '/articles/1'],
        ['PUT', '/articles/1'],
        ['PATCH', '/articles/1'],
        ['DELETE', '/articles/1'],
      ] as const) {
        const response = await sendRequest(node.port, method, `/_db/blog${path}`)
        expect(response.status).toBe(401)
        expect(response.headers['content-type']).toBe('application/json')
        expect(response.headers['www-authenticate']).toBe('Bearer, Basic realm="Gatehouse"')
        expect(response.json).toEqual({ id: 'auth_failed', message: expect.any(String) })
      }
    })

    it.each([
      ['Fetch Metadata', { 'Sec-Fetch-Site': 'cross-site' }],
      ['Sec-Fetch-Mode alone', { 'Sec-Fetch-Mode': 'cors' }],
      ['an Origin', { Origin: 'https://evil.example' }],
      ['a cookie', { Cookie: 'a=b' }],
      ['the user agent of a browser', { 'User-Agent': 'Mozilla/5.0' }],
    ])('offers no Basic challenge to a client that sends %s', async (_what, headers) => {
      const response = await sendRequest(node.port, 'GET', '/_db/blog/articles', { headers })
      expect([response.status, response.headers['www-authenticate']]).toEqual([401, 'Bearer'])
    })

    it('returns 403 without the role or the scope', async () => {
      const viewer = await as('viewer', 'POST', '/articles', {})
      expect(viewer.status).toBe(403)
      expect(viewer.json).toEqual({ id: 'forbidden', message: expect.any(String) })
      expect((await as('viewer', 'GET', '/articles')).status).toBe(200)
      expect((await as('of blog', 'GET', '/articles')).status).toBe(200)
      const headers = { Authorization: `Bearer ${tokens.get('of blog')}` }
      expect((await sendRequest(node.port, 'GET', '/_db/shop/articles', { headers })).status).toBe(
        403,
      )
    })
  })

  describe('Errors', () => {
    it.each([
      ['invalid JSON', '{"a":', 400, 'bad_request', undefined],
      ['a string', '"text"', 422, 'invalid', ''],
      ['a duplicate key', '{"a":1,"a":2}', 422, 'invalid', '/a'],
      ['a number that does not round-trip', '{"n":12345678901234567890}', 422, 'invalid', '/n'],
      ['an id that is not a string', '{"id":5}', 422, 'invalid', '/id'],
      ['an empty id', '{"id":""}', 422, 'invalid', '/id'],
      ['an id that is a dot segment', '{"id":".."}', 422, 'invalid', '/id'],
      ['an id that is too long', JSON.stringify({ id: 'x'.repeat(257) }), 422, 'invalid', '/id'],
      ['an id with U+0000', '{"id":"a\\u0000"}', 422, 'invalid', '/id'],
      ['an id with half a surrogate pair', '{"id":"\\ud800"}', 422, 'invalid', '/id'],
      [
        'more than 1 MiB',
        JSON.stringify({ text: 'x'.repeat(2 ** 20) }),
        413,
        'too_large',
        undefined,
      ],
      ['a duplicate id in an array', '[{"id":"a"},{"id":"a"}]', 409, 'conflict', '/1/id'],
    ])('responds as documented to a body with %s', async (_what, body, status, id, field) => {
      const response = await by('POST', '/refused', body)
      expect([response.status, response.json.id, response.json.field]).toEqual([status, id, field])
      expect(response.headers['content-type']).toBe('application/json')
      expect((await by('GET', '/refused')).json).toEqual([])
    })

    it('rejects an id other than that of the path, other content types and invalid UTF-8', async () => {
      const { id } = (await created({})).json
      expect((await by('PUT', `/articles/${id}`, { id: 'other' })).status).toBe(422)
      const type = { 'Content-Type': 'text/xml' }
      expect((await by('POST', '/articles', '{}', type)).json).toMatchObject({
        id: 'unsupported_media_type',
        message: expect.stringContaining('Content-Type'),
      })
    })

    it.each(['application/x-www-form-urlencoded', 'text/plain; charset=utf-8'])(
      'reads a body of the type %s as JSON if a token is sent',
      async (type) => {
        const headers = { 'Content-Type': type }
        const made = await by('POST', '/articles', '{"title":"a=b&c"}', headers)
        expect([made.status, made.json.title]).toEqual([201, 'a=b&c'])
        const { id } = made.json
        expect((await by('PUT', `/articles/${id}`, '{"n":1}', headers)).json).toEqual({ id, n: 1 })
        expect((await by('POST', '/articles', 'title=a', headers)).status).toBe(400)
      },
    )

    it.each(['order=a', 'page=2', 'offset=1', 'q=a', 'count=exact', '_limit=1', 'limt=1'])(
      'rejects the parameter of %s, which does not exist',
      async (query) => {
        const [name] = query.split('=')
        for (const method of ['GET', 'PATCH', 'DELETE']) {
          const body = method === 'PATCH' ? {} : undefined
          const response = await by(method, `/articles?${query}`, body)
          expect(response.status).toBe(400)
          expect(response.json).toMatchObject({
            id: 'bad_request',
            field: name,
            message: expect.stringContaining(`There is no parameter "${name}".`),
          })
        }
      },
    )

    it('reserves names that monitoring tools request', async () => {
      for (const path of ['/metrics', '/graphql', '/healthz']) {
        expect([path, (await by('POST', path, {})).status]).toEqual([
          path,
          path === '/healthz' ? 405 : 404,
        ])
      }
      expect((await sendRequest(node.port, 'GET', '/_db/blog/healthz')).json).toMatchObject({
        ready: true,
      })
    })

    it('keeps documents out of shared caches', async () => {
      const { id } = (await created({})).json
      for (const path of ['/articles', `/articles/${id}`, `/articles/${id}?a=b`]) {
        expect((await by('GET', path)).headers['cache-control']).toBe('private, no-cache')
      }
    })

    it('returns the length of the GET body for HEAD', async () => {
      const { id } = (await created({ text: 'é' })).json
      for (const path of ['/articles', `/articles/${id}`, '/articles/absent']) {
        const [head, get] = await Promise.all([by('HEAD', path), by('GET', path)])
        expect([head.status, head.text]).toEqual([get.status, ''])
        expect(head.headers['content-length']).toBe(String(Buffer.byteLength(get.text)))
      }
    })

    it('rejects invalid collection names, other paths and other methods', async () => {
      for (const path of [
        '/Articles',
        '/1articles',
        '/-x',
        `/a${'a'.repeat(64)}`,
        '/a.b',
        '/a/b/c',
      ]) {
        expect([path, (await by('GET', path)).status]).toEqual([path, 404])
      }
      const put = await by('PUT', '/articles', {})
      expect([put.status, put.headers.allow]).toEqual([405, 'GET, HEAD, POST, PATCH, DELETE'])
      const post = await by('POST', '/articles/1', {})
      expect([post.status, post.headers.allow]).toEqual([405, 'GET, HEAD, PUT, PATCH, DELETE'])
    })
  })

  describe('Validation (422)', () => {
    const SCHEMA = {
      type: 'object',
      required: ['title'],
      properties: { title: { type: 'string' }, n: { type: 'number' } },
    }
    const violated = (...pointers: string[]) => ({
      id: 'invalid',
      message: expect.any(String),
      field: pointers[0],
      violations: pointers.map((pointer) => ({ pointer, message: expect.any(String) })),
    })

    it('PUT /_schema/<collection> returns 200 with the schema, and so do GET and DELETE', async () => {
      const path = '/_schema/described'
      expect((await by('GET', path)).json).toMatchObject({ id: 'not_found' })
      const put = await by('PUT', path, SCHEMA)
      expect([put.status, put.json]).toEqual([200, SCHEMA])
      expect(put.headers['content-type']).toBe('application/json; version=1')
      const read = await as('viewer', 'GET', path)
      expect([read.status, read.json, read.headers.etag]).toEqual([200, SCHEMA, put.headers.etag])
      const cached = { 'If-None-Match': String(put.headers.etag) }
      expect((await by('GET', path, undefined, cached)).status).toBe(304)
      const stale = { 'If-Match': '"stale"' }
      expect((await by('PUT', path, true, stale)).json).toMatchObject({ id: 'precondition_failed' })
      expect((await by('DELETE', path, undefined, stale)).status).toBe(412)
      const deleted = await by('DELETE', path)
      expect([deleted.status, deleted.json]).toEqual([200, SCHEMA])
      expect((await by('DELETE', path)).status).toBe(404)
      await by('PUT', path, SCHEMA)
      const minimal = await by('DELETE', path, undefined, { Prefer: 'return=minimal' })
      expect([minimal.status, minimal.text]).toEqual([204, ''])
    })

    it('comes after 404 and before 409 and 412', async () => {
      await by('POST', '/ordered', { id: 'a', title: 'One' })
      await by('PUT', '/_schema/ordered', SCHEMA)
      const stale = { 'If-Match': '"stale"' }
      const none = { 'If-None-Match': '*' }
      const wrong = { title: 1 }
      for (const [method, path, body, headers, status] of [
        ['PUT', '/ordered/absent', wrong, {}, 404],
        ['PATCH', '/ordered/absent', wrong, {}, 404],
        ['PUT', '/ordered/absent', wrong, stale, 422],
        ['PATCH', '/ordered/absent', wrong, stale, 412],
        ['PUT', '/ordered/a', wrong, stale, 422],
        ['PATCH', '/ordered/a', wrong, stale, 422],
        ['PATCH', '/ordered/a', wrong, none, 422],
        ['PUT', '/ordered/a', { title: 'Two' }, stale, 412],
        ['PATCH', '/ordered/a', { title: 'Two' }, none, 412],
        ['POST', '/ordered', { id: 'a', title: 1 }, {}, 422],
        ['POST', '/ordered', { id: 'a', title: 'Two' }, {}, 409],
        ['POST', '/ordered', [{ id: 'x' }, { id: 'x' }], {}, 422],
        ['PUT', '/ordered/absent', 'no JSON', {}, 400],
        ['PUT', '/ordered/absent', [], {}, 422],
      ] as const) {
        const response = await by(method, path, body, headers)
        expect([method, path, body, headers, response.status]).toEqual([
          method,
          path,
          body,
          headers,
          status,
        ])
      }
      expect((await by('GET', '/ordered')).json).toEqual([{ id: 'a', title: 'One' }])
    })

    it('rejects every invalid change, with every violation and its pointer', async () => {
      const { id } = (await by('POST', '/checked', { title: 'One' })).json
      await by('PUT', '/_schema/checked', SCHEMA)
      for (const [method, path, body, pointers] of [
        ['POST', '/checked', { title: 1, n: 'x' }, ['/title', '/n']],
        ['POST', '/checked', [{ title: 'a' }, { n: 1 }, { title: 2 }], ['/1', '/2/title']],
        ['PUT', `/checked/${id}`, { n: false }, ['', '/n']],
        ['PATCH', `/checked/${id}`, { title: null }, ['']],
      ] as const) {
        const response = await by(method, path, body)
        expect([response.status, response.json]).toEqual([422, violated(...pointers)])
        expect(response.headers['content-type']).toBe('application/json')
      }
      expect((await by('GET', '/checked')).json).toEqual([{ id, title: 'One' }])
      expect((await by('POST', '/checked', [{ title: 'a', n: 1 }])).status).toBe(201)
      expect((await by('PATCH', `/checked/${id}`, { n: 5 })).status).toBe(200)
      expect((await by('PUT', `/checked/${id}`, { title: 'Two' })).status).toBe(200)
    })

    it('applies from the next request, and leaves stored documents as they are', async () => {
      const { id } = (await by('POST', '/late', { n: 'old' })).json
      await by('PUT', '/_schema/late', SCHEMA)
      expect((await by('GET', `/late/${id}`)).json).toEqual({ id, n: 'old' })
      expect((await by('PATCH', `/late/${id}`, { m: 1 })).json).toEqual(violated('', '/n'))
      expect((await by('PATCH', `/late/${id}`, { n: 1, title: 'new' })).status).toBe(200)
      await by('DELETE', '/_schema/late')
      expect((await by('POST', '/late', { n: 'any' })).status).toBe(201)
    })

    it('applies from the next request after another process has stored the schema', async () => {
      await node.request('POST', '/_db/shop/outside', { n: 'any' })
      const store = await node.openStore()
      const checker = createSchemaChecker()
      try {
        const { id } = await store.db
          .selectFrom('databases')
          .select('id')
          .where('name', '=', 'shop')
          .executeTakeFirstOrThrow()
        const where = { database: id, collection: 'outside' }
        await createSchemas(store, checker).put(
          where,
          JSON.stringify(SCHEMA),
          readConditions(undefined, undefined),
        )
      } finally {
        await store.close()
      }
      expect((await node.request('POST', '/_db/shop/outside', { n: 'any' })).status).toBe(422)
      expect((await by('POST', '/outside', { n: 'any' })).status).toBe(201)
    })

    it('rejects invalid JSON Schemas and external references', async () => {
      const wrong = await by('PUT', '/_schema/refused', { properties: { a: { type: 'text' } } })
      expect([wrong.status, wrong.json.id]).toEqual([422, 'invalid'])
      expect(wrong.json.violations[0].pointer).toBe('/properties/a/type')
      const remote = await by('PUT', '/_schema/refused', { $ref: 'http://127.0.0.1/a' })
      expect(remote.status).toBe(422)
      expect((await by('PUT', '/_schema/refused', '{"a":')).status).toBe(400)
      const large = await by('PUT', '/_schema/refused', { title: 'x'.repeat(65_536) })
      expect(large.status).toBe(413)
      expect((await by('GET', '/_schema/refused')).status).toBe(404)
    })

    it("requires the role operator and the database in the token's scope", async () => {
      for (const method of ['PUT', 'DELETE']) {
        expect((await as('viewer', method, '/_schema/articles')).status).toBe(403)
      }
      for (const method of ['GET', 'PUT', 'DELETE']) {
        const headers = { Authorization: `Bearer ${tokens.get('of blog')}` }
        const elsewhere = await sendRequest(node.port, method, '/_db/shop/_schema/outside', {
          headers,
        })
        expect(elsewhere.status).toBe(403)
        expect((await sendRequest(node.port, method, '/_db/blog/_schema/articles')).status).toBe(
          401,
        )
      }
      const post = await by('POST', '/_schema/articles', {})
      expect([post.status, post.headers.allow]).toEqual([405, 'GET, HEAD, PUT, DELETE'])
      expect((await by('GET', '/_schema/Articles')).status).toBe(404)
      expect((await by('GET', `/_schema/a${'a'.repeat(64)}`)).status).toBe(404)
    })

    it('is deleted with its database: a new one of the same name has no schema', async () => {
      await node.request('POST', '/_api/database', { name: 'strict' })
      await node.request('PUT', '/_db/strict/_schema/articles', SCHEMA)
      expect((await node.request('POST', '/_db/strict/articles', {})).status).toBe(422)
      await node.request('DELETE', '/_api/database/strict')
      await node.request('POST', '/_api/database', { name: 'strict' })
      expect((await node.request('GET', '/_db/strict/_schema/articles')).status).toBe(404)
      expect((await node.request('POST', '/_db/strict/articles', {})).status).toBe(201)
    })
  })

  describe('Documents', () => {
    it.each([
      ['any Unicode', { 'ключ "\\/\b\u0000': '💾\ud83d\ude00\u2028 \u0007' }],
      ['half surrogate pairs', JSON.parse('{"a":"\\ud800","\\udc00":1}')],
      [
        'properties of JavaScript objects',
        JSON.parse('{"__proto__":{"a":1},"constructor":1,"toString":2}'),
      ],
      ['large and small numbers', { a: 9007199254740991, b: 1.7976931348623157e308, c: 5e-324 }],
      ['deep nesting', { a: nestedArrays(DEPTH - 1) }],
      ['nearly a MiB', { text: 'x'.repeat(2 ** 20 - 100) }],
    ])('are returned equal with %s', async (_what, document) => {
      const made = await created(document)
      const read = await by('GET', `/articles/${made.json.id}`)
      expect(read.json).toEqual({ ...document, id: made.json.id })
      const put = await by('PUT', `/articles/${made.json.id}`, document)
      expect(put.json).toEqual({ ...document, id: made.json.id })
    })

    it('are nested at most 100 levels deep in every kind of request', async () => {
      const { json } = await created({ a: nestedArrays(DEPTH - 1) })
      const path = `/articles/${json.id}`
      const deeper = { a: nestedArrays(DEPTH) }
      for (const [method, target, body] of [
        ['POST', '/articles', deeper],
        ['POST', '/articles', [{}, deeper]],
        ['PUT', path, deeper],
        ['PATCH', path, deeper],
        ['PATCH', '/articles', deeper],
        ['PUT', '/_schema/articles', deeper],
      ] as const) {
        const { status, text } = await by(method, target, body)
        expect([status, text]).toEqual([422, expect.stringContaining('at most 100 levels deep')])
      }
      expect((await by('PATCH', path, { b: 1 })).json).toEqual({ ...json, b: 1 })
    })

    it('have at most 1 MiB in every kind of request', async () => {
      const sized = (id: string, bytes: number) => {
        const text = JSON.stringify({ id, text: '' })
        return text.replace('""', `"${'x'.repeat(bytes - text.length)}"`)
      }
      const whole = {}
      const parts = { 'Transfer-Encoding': 'chunked' }
      for (const [id, headers] of [
        ['whole', whole],
        ['parts', parts],
      ] as const) {
        const path = `/sized/${id}`
        expect((await by('POST', '/sized', sized(id, 2 ** 20), headers)).status).toBe(201)
        const larger = sized(id, 2 ** 20 + 1)
        expect((await by('POST', '/sized', sized(`${id}2`, 2 ** 20 + 1), headers)).status).toBe(413)
        expect((await by('POST', '/sized', `[${larger}]`, headers)).status).toBe(413)
        expect((await by('PUT', path, larger, headers)).status).toBe(413)
        expect((await by('PATCH', path, larger, headers)).status).toBe(413)
        expect((await by('PATCH', path, { more: 1 }, headers)).status).toBe(413)
        expect((await by('PATCH', '/sized', larger, headers)).status).toBe(413)
        expect((await by('PUT', path, sized(id, 2 ** 20), headers)).status).toBe(200)
      }
      expect((await by('POST', '/sized', `${sized('spaces', 2 ** 20)} `)).status).toBe(413)
      // Sizes count UTF-8 bytes, not UTF-16 code units.
      expect((await by('POST', '/sized', [{ text: 'ü'.repeat(2 ** 19) }])).status).toBe(413)
      expect((await by('GET', '/sized')).json).toHaveLength(2)
      // An array may have 64 MiB. The Content-Length is rejected before the body arrives.
      const announced = { 'Content-Length': String(2 ** 26 + 1) }
      expect((await by('POST', '/sized', '[', announced)).status).toBe(413)
    })

    it.each([
      'a/b',
      '//',
      '100%',
      '%2F',
      '%zz',
      '...',
      '.a',
      '%2e%2e',
      ' ',
      '?a#b+c',
      '\\"',
      '\u0001😀',
      '😀'.repeat(256),
    ])('are found by the id %j and by their Location', async (id) => {
      const made = await by('POST', '/called', { id })
      expect(made.status).toBe(201)
      const path = `/called/${encodeURIComponent(id)}`
      expect(made.headers.location).toBe(`/_db/blog${path}`)
      expect((await by('GET', path)).json).toEqual({ id })
      expect((await by('PUT', path, { n: 1 })).json).toEqual({ id, n: 1 })
      expect((await by('DELETE', path)).status).toBe(200)
    })

    it('belong to one database and are deleted with it', async () => {
      await node.request('POST', '/_api/database', { name: 'gone' })
      await node.request('POST', '/_db/gone/articles', { id: 'secret' })
      expect((await node.request('GET', '/_db/gone/articles/secret')).status).toBe(200)
      for (const name of ['blog', 'shop', '_system']) {
        expect((await node.request('GET', `/_db/${name}/articles/secret`)).status).toBe(404)
      }
      await node.request('DELETE', '/_api/database/gone')
      expect((await node.request('GET', '/_db/gone/articles/secret')).json).toMatchObject({
        id: 'database_not_found',
      })
      await node.request('POST', '/_api/database', { name: 'gone' })
      expect((await node.request('GET', '/_db/gone/articles')).json).toEqual([])
    })
  })
})

const nestedArrays = (depth: number) => JSON.parse('['.repeat(depth) + ']'.repeat(depth))
