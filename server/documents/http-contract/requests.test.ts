import { describe, expect, it } from 'vitest'
import { sendRequest } from '../../test-support/start.testing.ts'
import { forEachContractNode } from './contract-node.testing.ts'

forEachContractNode(
  (fixture) => {
    const { as, by, created, tokens } = fixture

    it.each([
      ['GET', '/articles/1'],
      ['GET', '/_index/articles'],
      ['PUT', '/_index/articles/by-n', { fields: ['n'] }],
      ['DELETE', '/_index/articles/by-n'],
      ['GET', '/_schema/articles'],
      ['PUT', '/_schema/articles', {}],
      ['DELETE', '/_schema/articles'],
      ['GET', '/_export'],
    ])(
      '%s %s rejects parameters, which would have no effect',
      async (method, path, body?: object) => {
        for (const [query, field] of [
          ['fields=title', 'fields'],
          ['limit', 'limit'],
          ['x=%ff', 'x'],
        ]) {
          const { status, json } = await by(method, `${path}?${query}`, body)
          expect([status, json.field]).toEqual([400, field])
        }
      },
    )

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

    describe('Query strings', () => {
      it('are rejected where they have no effect, and change nothing', async () => {
        await by('POST', '/plain', { id: '1', author: 'ada' })
        for (const [method, path, body] of [
          ['GET', '/plain/1?fields=author'],
          ['PUT', '/plain/1?author=eva', { n: 1 }],
          ['PATCH', '/plain/1?author=eva', { n: 1 }],
          ['DELETE', '/plain/1?author=eva'],
          ['POST', '/plain?upsert=true', { id: '2' }],
          ['POST', '/plain?upsert=true', [{ id: '2' }]],
        ] as const) {
          const [, field] = /\?(.*)=/.exec(path) ?? []
          const { status, json } = await by(method, path, body)
          expect([path, status, json]).toMatchObject([path, 400, { id: 'bad_request', field }])
        }
        expect((await by('GET', '/plain')).json).toEqual([{ id: '1', author: 'ada' }])
        expect((await by('GET', '/plain/1?')).status).toBe(200)
      })

      it('that are not percent-encoded UTF-8 get 400 in every request, and change nothing', async () => {
        const { json } = await by('POST', '/encoded', { id: '1', author: '\ufffd' })
        const listing = await by('GET', '/encoded', undefined, { Prefer: 'respond-async' })
        const job = String(listing.headers.location).replace('/_db/blog', '')
        const lines = { 'Content-Type': 'application/x-ndjson' }
        for (const [method, path, body, headers] of [
          ['GET', '/encoded'],
          ['GET', '/encoded', undefined, { Prefer: 'respond-async' }],
          ['GET', '/encoded', undefined, { Accept: 'text/csv' }],
          ['POST', '/encoded', { id: '2' }],
          ['POST', '/encoded', '{"id":"2"}\n', lines],
          ['PATCH', '/encoded', { n: 1 }],
          ['DELETE', '/encoded'],
          ['POST', '/_import', '', lines],
          ['GET', job],
        ] as const) {
          const response = await by(method, `${path}?author=%FF`, body, headers)
          expect([method, path, response.status]).toEqual([method, path, 400])
          expect(response.json).toEqual({
            id: 'bad_request',
            message: 'The parameter "author" is not percent-encoded UTF-8.',
            field: 'author',
          })
        }
        expect((await by('GET', '/encoded')).json).toEqual([json])
      })
    })

    describe('Authentication', () => {
      it('accepts the token as the user name of the URL', async () => {
        const basic = (user: string) => `Basic ${Buffer.from(user).toString('base64')}`
        const send = (authorization: string) =>
          sendRequest(fixture.node.port, 'GET', '/_db/blog/articles', {
            headers: { Authorization: authorization },
          })
        expect((await send(basic(`${tokens.get('viewer')}:`))).status).toBe(200)
        expect((await send(basic(`${tokens.get('viewer')}:undefined`))).status).toBe(200)
        const wrong = await send(basic(`password:${tokens.get('viewer')}`))
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
          const response = await sendRequest(fixture.node.port, method, `/_db/blog${path}`)
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
        const response = await sendRequest(fixture.node.port, 'GET', '/_db/blog/articles', {
          headers,
        })
        expect([response.status, response.headers['www-authenticate']]).toEqual([401, 'Bearer'])
      })

      it('returns 403 without the role or the scope', async () => {
        const viewer = await as('viewer', 'POST', '/articles', {})
        expect(viewer.status).toBe(403)
        expect(viewer.json).toEqual({ id: 'forbidden', message: expect.any(String) })
        expect((await as('viewer', 'GET', '/articles')).status).toBe(200)
        expect((await as('of blog', 'GET', '/articles')).status).toBe(200)
        const headers = { Authorization: `Bearer ${tokens.get('of blog')}` }
        expect(
          (await sendRequest(fixture.node.port, 'GET', '/_db/shop/articles', { headers })).status,
        ).toBe(403)
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
        expect([response.status, response.json.id, response.json.field]).toEqual([
          status,
          id,
          field,
        ])
        expect(response.headers['content-type']).toBe('application/json')
        expect((await by('GET', '/refused')).json).toEqual([])
      })

      it.each([
        ['', 'The body is empty. It must be JSON.'],
        ['\ufeff{}', 'The body must be JSON without a byte order mark.'],
        ['\ufeff[]', 'The body must be JSON without a byte order mark.'],
        ["{'a':1}", 'The body is not JSON.'],
      ])('says why the body %j is rejected', async (body, message) => {
        for (const [method, path] of [
          ['POST', '/refused'],
          ['PUT', '/refused/1'],
          ['PATCH', '/refused'],
          ['PUT', '/_schema/refused'],
        ] as const) {
          const { status, json } = await by(method, path, body)
          expect([method, path, status, json]).toEqual([
            method,
            path,
            400,
            { id: 'bad_request', message },
          ])
        }
      })

      it('rejects an id other than that of the path, other content types and invalid UTF-8', async () => {
        const { id } = (await created({})).json
        expect((await by('PUT', `/articles/${id}`, { id: 'other' })).status).toBe(422)
        const type = { 'Content-Type': 'text/xml' }
        expect((await by('POST', '/articles', '{}', type)).json).toMatchObject({
          id: 'unsupported_media_type',
          message: expect.stringContaining('Content-Type'),
        })
        for (const type of ['application/json', 'text/plain']) {
          const latin1 = { 'Content-Type': `${type}; charset=iso-8859-1` }
          expect((await by('PUT', `/articles/${id}`, '{}', latin1)).json).toMatchObject({
            id: 'unsupported_media_type',
            message: expect.stringContaining('"iso-8859-1"'),
          })
        }
      })

      it('rejects JSON Patch, and names the patch format', async () => {
        const { id } = (await created({})).json
        const type = { 'Content-Type': 'application/json-patch+json' }
        for (const path of [`/articles/${id}`, '/articles']) {
          const { status, headers } = await by('PATCH', path, { n: 1 }, type)
          expect([status, headers['accept-patch']]).toEqual([415, 'application/merge-patch+json'])
        }
        expect((await by('GET', `/articles/${id}`)).json).toEqual({ id })
      })

      it.each(['application/x-www-form-urlencoded', 'text/plain; charset=utf-8'])(
        'reads a body of the type %s as JSON if a token is sent',
        async (type) => {
          const headers = { 'Content-Type': type }
          const made = await by('POST', '/articles', '{"title":"a=b&c"}', headers)
          expect([made.status, made.json.title]).toEqual([201, 'a=b&c'])
          const { id } = made.json
          expect((await by('PUT', `/articles/${id}`, '{"n":1}', headers)).json).toEqual({
            id,
            n: 1,
          })
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
        for (const name of ['metrics', 'graphql']) {
          for (const path of [`/${name}`, `/${name}/1`, `/_index/${name}`, `/_schema/${name}`]) {
            const { status, json } = await by('GET', path)
            const message = `"${name}" is reserved and cannot be the name of a collection.`
            expect([path, status, json]).toEqual([path, 404, { id: 'not_found', message }])
          }
        }
        expect((await by('POST', '/healthz', {})).status).toBe(405)
        expect(
          (await sendRequest(fixture.node.port, 'GET', '/_db/blog/healthz')).json,
        ).toMatchObject({
          ready: true,
        })
      })

      it.each([
        ['GET', '/_db/blog/articles/%00'],
        ['DELETE', '/_db/blog/articles/a%00'],
        ['GET', '/_db/blog/_job/%00'],
        ['DELETE', '/_db/blog/_job/%00'],
        ['DELETE', '/_db/blog/_index/articles/%00'],
        ['DELETE', '/_db/_system/_api/database/%00'],
        ['DELETE', '/_db/_system/_api/token/%00'],
        ['POST', '/_db/_system/_api/endpoint-change/%00/undo'],
        ['GET', '/_db/_system/_api/audit?who=%00'],
        ['GET', '/_db/_system/_api/audit?which=a%00b'],
        ['GET', '/_db/_system/_api/audit?change=%00'],
      ])('%s %s is rejected, because no store has such a text', async (method, path) => {
        const { status, text } = await fixture.node.request(method, path)
        expect([status, text]).toEqual([400, expect.stringContaining('U+0000')])
      })

      it('names the rule of collection names for a name that is too long', async () => {
        const name = 'a'.repeat(65)
        for (const path of [`/${name}`, `/${name}/1`, `/_index/${name}`, `/_schema/${name}`]) {
          const { status, json } = await by('GET', path)
          expect([path, status, json.message]).toEqual([
            path,
            404,
            expect.stringMatching(/is not a valid collection name\. .* up to 64 /),
          ])
        }
      })

      it('keeps documents out of shared caches', async () => {
        const { id } = (await created({})).json
        for (const path of ['/articles', `/articles/${id}`, `/articles?a=b`]) {
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
  },
  ['sqlite'],
)
