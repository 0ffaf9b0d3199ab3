import { describe, expect, it } from 'vitest'
import { forEachContractNode } from './contract-node.testing.ts'

forEachContractNode(({ by }) => {
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

    it.each([
      ['POST', '/conditional-1', '{}', {}],
      ['POST', '/conditional-2', '[{}]', { Prefer: 'respond-async' }],
      ['POST', '/conditional-3', '{}', { 'Content-Type': 'application/x-ndjson' }],
      ['POST', '/_import', '{}', { 'Content-Type': 'application/x-ndjson' }],
      ['DELETE', '/_index/conditional-4/by-n', undefined, {}],
      ['PUT', '/_index/conditional-4/by-n', '{"fields":["n"]}', {}],
    ])('preconditions of %s %s: 412, unless they are If-Match: *', async (...given) => {
      const [method, path, text, headers] = given
      for (const condition of [
        { 'If-Match': '"stale"' },
        { 'If-Match': 'nonsense' },
        { 'If-None-Match': '*' },
      ]) {
        const { status, json } = await by(method, path, text, { ...headers, ...condition })
        expect([status, json.id]).toEqual([412, 'precondition_failed'])
      }
      const changed = path.startsWith('/_') ? '/_index/conditional-4' : path
      expect((await by('GET', changed)).json).toEqual([])
      const { status } = await by(method, path, text, { ...headers, 'If-Match': '*' })
      expect(status).not.toBe(412)
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
})
