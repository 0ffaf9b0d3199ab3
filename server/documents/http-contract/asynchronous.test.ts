import { describe, expect, it, vi } from 'vitest'
import { sendRequest, type TestResponse } from '../../test-support/start.testing.ts'
import { WAIT } from '../../test-support/wait.testing.ts'
import { forEachContractNode } from './contract-node.testing.ts'

forEachContractNode((fixture) => {
  const { as, by } = fixture

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
        kind: 'import',
        collection: 'later',
        state: 'done',
        done: 150,
        total: 150,
        found: 150,
        failure: null,
        result: { created: 150, replaced: 0, skipped: 0, failed: 0, errors: [] },
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
      for (const name of ['sort', 'fields', 'limt', 'n']) {
        const path = `${first.headers.location}?limit=1&${name}=n`.replace('/_db/blog', '')
        const other = await by('GET', path)
        expect([other.status, other.json.field]).toEqual([400, name])
      }
      for (const name of ['limit', 'after']) {
        const path = `${first.headers.location}?${name}=1&${name}=2`.replace('/_db/blog', '')
        const repeated = await by('GET', path)
        expect([repeated.status, repeated.json.field]).toEqual([400, name])
      }
    })

    it('GET returns 304 without a job if the client has the first part', async () => {
      await by('POST', '/known', some)
      const path = '/known?limit=10'
      const { etag, link } = (await by('GET', path, undefined, later)).headers
      for (const tags of [String(etag), `"a", W/${etag}`, '*']) {
        const same = await by('GET', path, undefined, { ...later, 'If-None-Match': tags })
        expect([same.status, same.text]).toEqual([304, ''])
        expect(same.headers).toMatchObject({ etag, link })
        expect(same.headers.location).toBeUndefined()
      }
      await by('PATCH', '/known/d100', { n: 5 })
      const other = await by('GET', path, undefined, { ...later, 'If-None-Match': String(etag) })
      expect(other.status).toBe(206)
    })

    it('GET begins after an id', async () => {
      await by('POST', '/continued', some)
      const wanted = some.filter(({ id, n }) => n === 1 && id > 'd150')
      const first = await by('GET', '/continued?n=1&after=d150&limit=1', undefined, later)
      expect([first.status, first.json]).toEqual([206, wanted.slice(0, 1)])
      const job = String(first.headers.location).replace('/_db/blog', '')
      expect((await ended(job)).json).toMatchObject({ found: 50, documents: wanted })
      expect((await by('GET', `${job}?after=d100&limit=1000`)).json.documents).toEqual(wanted)
      const rest = await by('GET', `${job}?after=d248`)
      expect(rest.json.documents).toEqual(wanted.slice(-1))
      expect((await by('GET', `${job}?after=d248%00x`)).json).toEqual(rest.json)
      const nul = await by('GET', '/continued?after=d150%00x', undefined, later)
      const all = await ended(String(nul.headers.location).replace('/_db/blog', ''))
      expect(all.json.found).toBe(99)
    })

    it('GET rejects a cursor, which the order of ids does not have', async () => {
      const response = await by('GET', '/continued?cursor=x', undefined, later)
      expect([response.status, response.json.field]).toEqual([400, 'cursor'])
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

    it('counts the documents that it cannot store', async () => {
      await by('POST', '/failing', { id: 'd120' })
      const response = await ended(await begun('POST', '/failing', some))
      expect(response.json).toMatchObject({
        state: 'done',
        failure: null,
        result: {
          created: 149,
          failed: 1,
          errors: [{ line: 21, message: 'A document with the id "d120" already exists.' }],
        },
      })
      expect((await by('GET', '/failing/d120')).json).toEqual({ id: 'd120' })
    })

    it('validates against the schema before and during the job', async () => {
      await by('POST', '/schooled', [...some.slice(0, 9), { id: 'x' }])
      await by('PUT', '/_schema/schooled', { required: ['n'], properties: { n: { maximum: 5 } } })
      const many = [...some.slice(9), ...Array.from({ length: 300 }, () => ({ n: 1 })), { n: 6 }]
      const posted = await ended(await begun('POST', '/schooled', many))
      expect(posted.json.result).toMatchObject({
        failed: 1,
        errors: [{ line: 442, pointer: '/n' }],
      })
      expect((await by('PATCH', '/schooled', { on: true })).status).toBe(422)
      expect((await by('GET', '/schooled?on=true')).json).toEqual([])
      const patched = await ended(await begun('PATCH', '/schooled', { on: true }))
      expect(patched.json).toMatchObject({
        state: 'done',
        result: { failed: 1, errors: [{ id: 'x', pointer: '' }] },
      })
    })

    it('rejects invalid requests immediately', async () => {
      expect((await by('POST', '/refused', '[1', later)).status).toBe(400)
      expect((await as('viewer', 'DELETE', '/later', undefined, later)).status).toBe(403)
      expect((await by('GET', '/refused')).json).toEqual([])
    })

    it('rejects repeated parameters of a job of any kind', async () => {
      const listing = await by('GET', '/repeated', undefined, later)
      const job = String(listing.headers.location).replace('/_db/blog', '')
      for (const path of [job, await begun('DELETE', '/repeated')]) {
        expect((await by('GET', `${path}?limit=1&after=a`)).status).toBeLessThan(300)
        for (const field of ['limit', 'after']) {
          const response = await by('GET', `${path}?${field}=1&${field}=1`)
          expect([response.status, response.json.field]).toEqual([400, field])
        }
      }
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

    it('DELETE cancels a job, and has no effect on one that has ended', async () => {
      const many = Array.from({ length: 20_000 }, (_, n) => `{"id":"d${n}"}\n`).join('')
      const ndjson = { ...later, 'Content-Type': 'application/x-ndjson' }
      const posted = await by('POST', '/stopped', many, ndjson)
      const job = String(posted.headers.location).replace('/_db/blog', '')
      expect((await as('viewer', 'DELETE', job)).status).toBe(403)
      expect((await fixture.node.request('DELETE', `/_db/shop${job}`)).status).toBe(404)
      expect((await fixture.node.request('DELETE', job)).status).toBe(404)
      const cancelled = await as('operator', 'DELETE', job)
      expect([cancelled.status, cancelled.headers['cache-control']]).toEqual([200, 'no-store'])
      const { json } = cancelled
      expect(json).toMatchObject({ kind: 'import', state: 'cancelled', failure: null })
      expect(json.done).toBeLessThan(20_000)
      expect(json.result?.created ?? 0).toBe(json.done)
      expect((await by('DELETE', job)).json).toEqual(json)
      const minimal = await by('DELETE', job, undefined, { Prefer: 'return=minimal' })
      expect([minimal.status, minimal.text]).toEqual([204, ''])
      expect(minimal.headers['preference-applied']).toBe('return=minimal')
      const after = await by('GET', job)
      expect([after.status, after.json]).toEqual([200, json])
      const counted = await by('GET', '/stopped?limit=1', undefined, { Prefer: 'count=exact' })
      expect(counted.headers['x-total-count']).toBe(String(json.found))

      const ending = await begun('DELETE', '/nothing-there')
      const { json: done } = await ended(ending)
      const ignored = await by('DELETE', ending)
      expect([ignored.status, ignored.json]).toEqual([200, done])
      expect((await by('DELETE', '/_job/absent')).status).toBe(404)
    })

    it('is visible only in its database and with permission to read', async () => {
      const job = await begun('DELETE', '/nothing-here')
      expect((await as('viewer', 'GET', job)).status).not.toBe(403)
      expect((await fixture.node.request('GET', `/_db/shop${job}`)).status).toBe(404)
      expect((await fixture.node.request('GET', job)).status).toBe(404)
      expect((await sendRequest(fixture.node.port, 'GET', `/_db/blog${job}`)).status).toBe(401)
      expect((await by('GET', '/_job/absent')).json).toMatchObject({ id: 'not_found' })
    })
  })
})
