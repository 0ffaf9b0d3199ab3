import { describe, expect, it } from 'vitest'
import type { TestResponse } from '../../test-support/start.testing.ts'
import { forEachContractNode } from './contract-node.testing.ts'

forEachContractNode(({ by }) => {
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

    it('varies by Accept, by which the same URL serves exports', async () => {
      const page = await by('GET', '/pages?limit=1')
      const same = { 'If-None-Match': String(page.headers.etag) }
      for (const [method, headers, status] of [
        ['GET', {}, 200],
        ['HEAD', {}, 200],
        ['GET', same, 304],
        ['HEAD', same, 304],
        ['GET', { Prefer: 'respond-async' }, 206],
        ['GET', { Prefer: 'respond-async', ...same }, 304],
        ['GET', { Accept: 'text/csv' }, 200],
        ['GET', { Accept: 'text/csv', 'If-None-Match': '*' }, 304],
        ['HEAD', { Accept: 'text/csv', 'If-None-Match': '*' }, 304],
      ] as const) {
        const path = 'Accept' in headers ? '/pages' : '/pages?limit=1'
        const response = await by(method, path, undefined, headers)
        expect([response.status, response.headers.vary]).toEqual([
          status,
          expect.stringMatching(/^Accept(?:, Accept-Encoding)?$/),
        ])
      }
    })

    it('has no link after the last document', async () => {
      expect((await by('GET', '/pages?limit=25')).headers.link).toBeUndefined()
      expect((await by('GET', '/pages?limit=24')).headers.link).toContain('after=p123')
    })

    it('reads the opposite order of ids like the order of ids, with a cursor', async () => {
      const first = await by('GET', '/pages?sort=-id&limit=24')
      expect(first.headers['query-plan']).toBeUndefined()
      const next = /<\/_db\/blog([^>]+)>; rel="next"/.exec(String(first.headers.link))?.[1] ?? ''
      expect(next).toContain('cursor=')
      const last = await by('GET', next)
      const ids = [...first.json, ...last.json].map(({ id }: { id: string }) => id)
      expect(ids).toEqual(Array.from({ length: 25 }, (_, n) => `p${124 - n}`))
      expect(last.headers.link).toBeUndefined()
      const filtered = await by('GET', '/pages?n:lt=5&sort=-id&limit=2')
      expect(filtered.json.map(({ n }: { n: number }) => n)).toEqual([4, 3])
      expect(filtered.headers['query-plan']).toBe('scan; scanned=25; returned=2')
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
      for (let at = 0; at < large.length; at += 3) {
        await by('POST', '/large', large.slice(at, at + 3))
      }
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

    it('explains filters of other servers that find nothing', async () => {
      const advised = async (query: string, headers?: object) => {
        const { status, json } = await by('GET', query, undefined, headers)
        return [status, json?.message ?? json]
      }
      const advice = [400, expect.stringContaining('Write views:gte=…')]
      const later = { Prefer: 'respond-async' }
      await by('POST', '/foreign', [
        { id: '1', views: 5 },
        { id: '2', views_gte: 5 },
      ])
      const found = [200, [{ id: '2', views_gte: 5 }]]
      expect(await advised('/foreign?views_gte=5')).toEqual(found)
      // After the last page there may be nothing.
      expect(await advised('/foreign?views_gte=5&after=2')).toEqual([200, []])
      for (const [query, headers] of [
        ['/foreign?views_gte=6'],
        ['/foreign?views_gte=6&sort=-views', { Prefer: 'count=exact' }],
        ['/foreign?views_gte=6', later],
        ['/foreign?views_gte=6', { Accept: 'application/x-ndjson' }],
        ['/foreign?views_gte=6&export-as=csv'],
        ['/foreign?views_gte=6&fields=id&export-as=csv'],
        ['/foreign?views_gte=6&export-as=json'],
        ['/nothing-here?views_gte=6'],
      ] as const) {
        expect([query, await advised(query, headers)]).toEqual([query, advice])
      }
      expect(await advised('/foreign?views=7&views=8')).toEqual([
        400,
        expect.stringContaining('more than once'),
      ])
      for (const [method, body] of [['PATCH', { on: true }], ['DELETE']] as const) {
        for (const headers of [{}, later]) {
          const { status, json } = await by(method, '/foreign?views_gte=5', body, headers)
          expect([status, json.message]).toEqual(advice)
        }
      }
      expect(await advised('/foreign?views_gte=5')).toEqual(found)
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
})
