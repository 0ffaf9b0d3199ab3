import { describe, expect, it } from 'vitest'
import { DEPTH, KEYS, STRUCTURES } from '../../contract/json/json-limits.ts'
import { forEachContractNode } from './contract-node.testing.ts'

forEachContractNode(
  (fixture) => {
    const { by, created } = fixture

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

      it('contain at most 65,536 objects and arrays in every kind of request', async () => {
        const objects = (count: number) => Array(count).fill({})
        // The document and its array.
        const { json } = await created({ a: objects(STRUCTURES - 2) })
        const path = `/articles/${json.id}`
        const tooMany = { a: objects(STRUCTURES - 1) }
        for (const [method, target, body] of [
          ['POST', '/articles', tooMany],
          ['POST', '/articles', [{}, tooMany]],
          ['PUT', path, tooMany],
          ['PATCH', path, { b: {} }],
          ['PATCH', '/articles', { b: {} }],
        ] as const) {
          const { status, text } = await by(method, target, body)
          expect([status, text]).toEqual([
            422,
            expect.stringContaining('65,536 objects and arrays'),
          ])
        }
        expect((await by('PATCH', path, { b: 1 })).status).toBe(200)
        expect((await by('DELETE', path)).status).toBe(200)
      })

      it('have at most 32,768 keys in an object in every kind of request', async () => {
        const fields = (count: number) =>
          Object.fromEntries(Array.from({ length: count }, (_, n) => [`k${n}`, n]))
        const { json } = await created({ a: fields(KEYS) })
        const path = `/articles/${json.id}`
        const tooMany = { a: fields(KEYS + 1) }
        for (const [method, target, body] of [
          ['POST', '/articles', tooMany],
          ['POST', '/articles', [{}, tooMany]],
          ['PUT', path, tooMany],
          ['PATCH', path, { a: { b: 1 } }],
          ['PATCH', '/articles', tooMany],
        ] as const) {
          const { status, text } = await by(method, target, body)
          expect([status, text]).toEqual([422, expect.stringContaining('at most 32,768 keys')])
        }
        expect((await by('PATCH', path, { b: 1 })).json).toEqual({ ...json, b: 1 })
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
          expect((await by('POST', '/sized', sized(`${id}2`, 2 ** 20 + 1), headers)).status).toBe(
            413,
          )
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
        await fixture.node.request('POST', '/_api/database', { name: 'gone' })
        await fixture.node.request('POST', '/_db/gone/articles', { id: 'secret' })
        expect((await fixture.node.request('GET', '/_db/gone/articles/secret')).status).toBe(200)
        for (const name of ['blog', 'shop', '_system']) {
          expect((await fixture.node.request('GET', `/_db/${name}/articles/secret`)).status).toBe(
            404,
          )
        }
        await fixture.node.request('DELETE', '/_api/database/gone')
        expect((await fixture.node.request('GET', '/_db/gone/articles/secret')).json).toMatchObject(
          {
            id: 'database_not_found',
          },
        )
        await fixture.node.request('POST', '/_api/database', { name: 'gone' })
        expect((await fixture.node.request('GET', '/_db/gone/articles')).json).toEqual([])
      })
    })
  },
  ['sqlite'],
)

const nestedArrays = (depth: number) => JSON.parse('['.repeat(depth) + ']'.repeat(depth))
