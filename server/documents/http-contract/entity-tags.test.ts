import { describe, expect, it } from 'vitest'
import { forEachContractNode } from './contract-node.testing.ts'

forEachContractNode(
  ({ by, created }) => {
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

      it('are the same if a proxy has marked them as weak', async () => {
        const { json, headers } = await created({ n: 1 })
        const path = `/articles/${json.id}`
        const weak = `W/${headers.etag}`
        const cached = await by('GET', path, undefined, { 'If-None-Match': `"other", ${weak}` })
        expect([cached.status, cached.headers.etag]).toEqual([304, headers.etag])
        for (const [at, conditions] of [
          [path, { 'If-Match': 'W/"other"' }],
          [path, { 'If-None-Match': weak }],
          [path, { 'If-None-Match': '*' }],
          ['/articles/absent', { 'If-Match': '*' }],
        ] as const) {
          expect((await by('DELETE', at, undefined, conditions)).status).toBe(412)
          expect((await by('PUT', at, { n: 2 }, conditions)).status).toBe(412)
        }
        const stale = { 'If-Match': `"other"` }
        expect((await by('GET', path, undefined, stale)).status).toBe(412)
        const changed = await by('PATCH', path, { n: 2 }, { 'If-Match': weak })
        expect(changed.status).toBe(200)
        const either = { 'If-Match': `"other", W/${changed.headers.etag}` }
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

      it('reject a page, a listing or an export that is not the expected one', async () => {
        await by('POST', '/expected', { id: '1' })
        const path = '/expected?limit=1'
        const { etag = '' } = (await by('GET', path)).headers
        for (const headers of [{}, { Prefer: 'respond-async' }]) {
          const read = (match: string) =>
            by('GET', path, undefined, { ...headers, 'If-Match': match })
          for (const match of [String(etag), `"a", W/${etag}`, '*'])
            expect([200, 206]).toContain((await read(match)).status)
          const { status, json } = await read('"a"')
          expect([status, json.id]).toEqual([412, 'precondition_failed'])
        }
        // If-Match precedes If-None-Match (RFC 9110 §13.2.2).
        const both = { 'If-Match': '"a"', 'If-None-Match': String(etag) }
        expect((await by('GET', path, undefined, both)).status).toBe(412)
        const exported = async (match: string) =>
          (await by('GET', '/expected?export-as=ndjson', undefined, { 'If-Match': match })).status
        expect([await exported('*'), await exported(String(etag))]).toEqual([200, 412])
        await by('PUT', '/expected/1', { n: 1 })
        const stale = { 'If-Match': String(etag) }
        expect((await by('GET', path, undefined, stale)).status).toBe(412)
      })

      it('serialize concurrent updates', async () => {
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
        for (let n = 0; n < 200; n += 50) {
          await Promise.all(Array.from({ length: 50 }, (_, at) => link(n + at)))
        }
        const links = (await by('GET', '/chain/c')).json.by
        expect(links).toHaveLength(accepted)
        expect(new Set(links).size).toBe(accepted)
        expect(accepted).toBeGreaterThan(0)
        expect(accepted).toBeLessThan(200)
      })
    })
  },
  ['sqlite'],
)
