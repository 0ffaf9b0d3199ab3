import { describe, expect, it } from 'vitest'
import type { TestResponse } from '../../test-support/start.testing.ts'
import { WAIT } from '../../test-support/wait.testing.ts'
import { forEachContractNode } from './contract-node.testing.ts'

forEachContractNode(({ by, created }) => {
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
      const absent = await by('PUT', '/articles/absent', { title: 'x' })
      expect(absent.status).toBe(404)
      expect(absent.json).toEqual({
        id: 'not_found',
        message:
          'There is no document "absent" in articles. PUT with the header If-None-Match: * creates it. POST of the collection with ?on-conflict=replace creates or replaces it.',
      })
    })

    it('PATCH /articles/<id> merges: 200 with the object; 404 if absent', async () => {
      const { id } = (await created({ title: 'One', tags: { a: 1, b: 2 } })).json
      const response = await by('PATCH', `/articles/${id}`, { tags: { a: null, c: 3 } })
      expect(response.status).toBe(200)
      expect(response.json).toEqual({ id, title: 'One', tags: { b: 2, c: 3 } })
      expect((await by('PATCH', '/articles/absent', {})).status).toBe(404)
    })

    it('keys with escapes are stored unchanged, although other documents have similar ones', async () => {
      await created({ id: 'a', of: { escapes: 1, '\\': 2 } })
      const stored = await created({ id: 'b', of: { escapes: 1, '\n': 3 } })
      expect(stored.text).toBe('{"id":"b","of":{"escapes":1,"\\n":3}}')
      const patched = await by('PATCH', '/articles/b', { of: { escapes: null, '\t': 4 } })
      // Not parsed: the client has the same parser.
      expect(patched.text).toBe('{"id":"b","of":{"\\n":3,"\\t":4}}')
      expect((await by('GET', '/articles?of.%0A=3')).text).toBe(`[${patched.text}]`)
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
        [{ id: 'm0' }, 409, '/2500/id'],
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

  describe('POST with on-conflict', () => {
    const upsert = (choice: string, body: unknown, headers?: object) =>
      by('POST', `/kept?on-conflict=${choice}`, body, headers)
    const statusAndJson = async (sending: Promise<TestResponse>) => {
      const { status, json } = await sending
      return [status, json]
    }

    it('creates, replaces or skips an object', async () => {
      const [one, two] = [
        { id: 'a', n: 1 },
        { id: 'a', n: 2 },
      ]
      const first = await upsert('replace', one)
      expect([first.status, first.json]).toEqual([201, one])
      expect(first.headers.location).toBe('/_db/blog/kept/a')
      const second = await upsert('replace', two)
      expect([second.status, second.json]).toEqual([200, two])
      expect(second.headers.location).toBeUndefined()
      const stored = await by('GET', '/kept/a')
      expect([stored.json, stored.headers.etag]).toEqual([two, second.headers.etag])
      const skipped = await upsert('skip', one)
      expect([skipped.status, skipped.json]).toEqual([200, two])
      expect(skipped.headers.etag).toBe(second.headers.etag)
      expect((await upsert('skip', { n: 3 })).status).toBe(201)
      expect((await upsert('fail', one)).status).toBe(409)
      expect((await upsert('update', one)).json).toMatchObject({ field: 'on-conflict' })
      for (const headers of [{ 'If-Match': '"a"' }, { 'If-None-Match': '*' }])
        expect((await upsert('replace', one, headers)).status).toBe(412)
      const absent = await by('PUT', '/kept/none', {})
      expect([absent.status, absent.json.message]).toEqual([
        404,
        expect.stringContaining('?on-conflict=replace'),
      ])
    })

    it('creates, replaces or skips the objects of an array, in their order', async () => {
      const n = (value: number) => ['z', 'y', 'x'].map((id) => ({ id, n: value }))
      expect(await statusAndJson(upsert('replace', n(1).slice(1)))).toEqual([201, n(1).slice(1)])
      const replaced = await upsert('replace', n(2))
      expect([replaced.status, replaced.json]).toEqual([200, n(2)])
      expect(replaced.headers.etag).toMatch(/^"[\w-]{22}"$/)
      await by('DELETE', '/kept/y')
      const [z, y, x] = n(3)
      const kept = [{ id: 'z', n: 2 }, y, { id: 'x', n: 2 }]
      expect(await statusAndJson(upsert('skip', [z, y, x]))).toEqual([200, kept])
      expect((await by('GET', '/kept?id:in=x,y,z')).json).toEqual(kept.toReversed())
      const many = Array.from({ length: 1_500 }, (_, at) => ({ id: `m${at}` }))
      expect(await statusAndJson(upsert('replace', many))).toEqual([201, many])
    })

    it('stores all of an array or none, and checks the schema and unique indexes', async () => {
      await by('PUT', '/_schema/unique', { properties: { n: { type: 'number' } } })
      await by('PUT', '/_index/unique/by-n', { fields: ['n'], unique: true })
      await expect
        .poll(async () => (await by('GET', '/_index/unique')).json)
        .toMatchObject([{ state: 'ready' }])
      const stored = [
        { id: 'a', n: 1 },
        { id: 'b', n: 2 },
      ]
      await by('POST', '/unique', stored)
      for (const choice of ['replace', 'skip']) {
        const send = (body: unknown) => by('POST', `/unique?on-conflict=${choice}`, body)
        for (const [document, status, field] of [
          [{ id: 'c', n: 1 }, 409, '/n'],
          [{ id: 'c', n: 'x' }, 422, '/n'],
          [{ id: 'a', n: 'x' }, 422, '/n'],
        ] as const) {
          const one = await send(document)
          expect([one.status, one.json.field]).toEqual([status, field])
          const some = await send([{ id: 'd', n: 4 }, document])
          expect([some.status, some.json.field]).toEqual([status, `/1${field}`])
        }
        expect(await statusAndJson(send([{ id: 'a' }, { id: 'a' }]))).toMatchObject([
          409,
          { field: '/1/id' },
        ])
      }
      expect((await by('GET', '/unique')).json).toEqual(stored)
      const swapped = await by('POST', '/unique?on-conflict=replace', { id: 'b', n: 3 })
      expect(swapped.status).toBe(200)
      expect((await by('GET', '/unique?n=3')).json).toEqual([{ id: 'b', n: 3 }])
    })

    it('imports a large array in a job', async () => {
      await by('POST', '/jobs', [{ id: 'm1', n: 'old' }])
      const many = Array.from({ length: 10_001 }, (_, n) => ({ id: `m${n}`, n }))
      many.push(7 as never)
      for (const [body, headers, counts] of [
        [many.slice(0, 2), { Prefer: 'respond-async' }, { created: 1, replaced: 1 }],
        [many, {}, { created: 9_999, replaced: 2, failed: 1, errors: [{ line: 10_002 }] }],
      ] as const) {
        const begun = await by('POST', '/jobs?on-conflict=replace', body, headers)
        expect(begun.status).toBe(202)
        const job = String(begun.headers.location).replace('/_db/blog', '')
        await expect.poll(async () => (await by('GET', job)).status, WAIT).toBe(200)
        expect((await by('GET', job)).json).toMatchObject({ state: 'done', result: counts })
      }
      expect((await by('GET', '/jobs/m1')).json).toEqual({ id: 'm1', n: 1 })
    })
  })

  describe('/articles/?id=<id>, for proxies that reject an encoded slash in a path', () => {
    const path = (id: string) => `/articles/?id=${encodeURIComponent(id)}`

    it.each(['a/b', '../x?y#z', 'é+ %2F&'])('names the document %j in all methods', async (id) => {
      const made = await by('PUT', path(id), { n: 1 }, { 'If-None-Match': '*' })
      const location = `/_db/blog/articles/${encodeURIComponent(id)}`
      expect([made.status, made.headers.location]).toEqual([201, location])
      const read = await by('GET', path(id))
      expect(read.text).toBe((await by('GET', `/articles/${encodeURIComponent(id)}`)).text)
      expect(read.json).toEqual({ id, n: 1 })
      const { etag } = read.headers
      const same = await by('GET', path(id), undefined, { 'If-None-Match': etag })
      expect(same.status).toBe(304)
      const head = await by('HEAD', path(id))
      expect([head.status, head.headers.etag, head.text]).toEqual([200, etag, ''])
      const match = { 'If-Match': etag }
      expect((await by('PATCH', path(id), { m: 2 }, match)).json).toEqual({ id, n: 1, m: 2 })
      for (const method of ['PUT', 'PATCH', 'DELETE'])
        expect((await by(method, path(id), {}, match)).status).toBe(412)
      expect((await by('PUT', path(id), { n: 3 })).json).toEqual({ id, n: 3 })
      const minimal = { Prefer: 'return=minimal' }
      expect((await by('DELETE', path(id), undefined, minimal)).status).toBe(204)
      expect((await by('DELETE', path(id))).status).toBe(404)
    })

    it('is a filter without the slash', async () => {
      await by('POST', '/listed', [{ id: 'a' }, { id: 'b' }])
      expect((await by('GET', '/listed?id=a')).json).toEqual([{ id: 'a' }])
      expect((await by('GET', '/listed/?id=a')).json).toEqual({ id: 'a' })
    })

    it('gets 400 for an id that is empty, repeated or also in the path, and 404 without one', async () => {
      const all = ['GET', 'PUT', 'PATCH', 'DELETE']
      for (const query of ['id=', 'id=a&id=a', 'id=a&limit=1', 'id=%ff', 'id=%00']) {
        for (const method of all) {
          const { status, json } = await by(method, `/articles/?${query}`, {})
          expect([query, status, json.id]).toEqual([query, 400, 'bad_request'])
        }
      }
      expect((await by('GET', '/articles/a?id=a')).json).toMatchObject({ field: 'id' })
      for (const method of [...all, 'POST']) {
        const { status, json } = await by(method, '/articles/', {})
        expect([status, json.message]).toEqual([404, expect.stringContaining('Remove the slash')])
      }
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

    it('creates a document with an id that contains a percent sign', async () => {
      const { json, headers } = await by('PUT', '/percent/caf%25E9', {}, absent)
      expect([json, headers.location]).toEqual([{ id: 'caf%E9' }, '/_db/blog/percent/caf%25E9'])
    })

    it('rejects ids that no document can have', async () => {
      for (const [id, status] of [
        ['x'.repeat(257), 422],
        ['%00', 400],
        ['caf%E9', 400],
        ['%ED%A0%80', 400],
        ['%', 400],
        ['%2', 400],
      ] as const) {
        expect((await by('PUT', `/put/${id}`, {}, absent)).status).toBe(status)
      }
      expect(ids(await by('GET', '/put'))).toEqual(['a b'])
    })

    const ids = ({ json }: TestResponse) => json.map(({ id }: { id: string }) => id)
  })
})
