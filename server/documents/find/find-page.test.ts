import { sql } from 'kysely'
import { beforeEach, expect, test, vi } from 'vitest'
import { PAGE } from '../../contract/document.ts'
import type { Failure } from '../../failure.ts'
import type { Store } from '../../storage/store.ts'
import { storeDatabases } from '../../storage/test-support/databases.testing.ts'
import { forEachEngine } from '../../storage/test-support/each-engine.testing.ts'
import { createTestDocuments } from '../documents.testing.ts'
import type { Documents, FindOptions, FoundPage } from '../documents.ts'
import { openIndexesOf } from '../indexes/build/build-indexes.testing.ts'
import { COUNT_BATCH } from '../indexes/read/index-reader.ts'
import { parseDocumentQuery } from '../query/query.ts'
import { createDocumentRepository } from '../repository/stored-documents.ts'
import { idsOn } from './ids-on-page.testing.ts'
import { SCANS, ScanLimit } from './scan-limit.ts'

const where = { database: 'db', collection: 'articles' }

forEachEngine((engine) => {
  let store: Store
  let documents: Documents
  let indexes: ReturnType<typeof openIndexesOf>

  beforeEach(async () => {
    store = await engine.open()
    await storeDatabases(store, 'db')
    documents = createTestDocuments({ repository: createDocumentRepository(store), now: () => 0 })
    indexes = openIndexesOf(store)
    for (const document of [
      { id: '1', a: 1, b: 2 },
      { id: '2', a: 1, b: 1 },
      { id: '3', a: 2, b: 1 },
    ]) {
      await documents.create(where, JSON.stringify(document))
    }
  })

  const find = (query: string, { count = false, permission }: Partial<FindOptions> = {}) =>
    documents.find(where, parseDocumentQuery(new URLSearchParams(query)), {
      count,
      reserve: () => undefined,
      signal: () => new AbortController().signal,
      ...(permission && { permission }),
    })
  /** Lets one scan run at a time, and rejects others at once. Returns the limit. */
  function allowOneScan(): ScanLimit {
    const scans = new ScanLimit({ ...SCANS, running: 1, wait: 1 })
    documents = createTestDocuments({
      repository: createDocumentRepository(store),
      now: () => 0,
      scans,
    })
    return scans
  }

  const viewOf = (page: FoundPage) => [page.index, idsOn(page).join()]
  const view = async (query: string) => viewOf(await find(query))

  test('a query uses an index of another node as soon as it is ready, and none that it has dropped', async () => {
    await indexes.put(where, 'by-b', ['b'])
    await indexes.build()
    expect(await view('b=1')).toEqual(['by-b', '2,3'])
    expect(await view('a=1&b=1')).toEqual(['by-b', '2'])
    expect(await view('a=1')).toEqual([undefined, '1,2'])
    await indexes.put(where, 'by-a', ['a', 'b'])
    expect(await view('a=1')).toEqual([undefined, '1,2'])
    await indexes.build()
    expect(await view('b=1')).toEqual(['by-b', '2,3'])
    expect(await view('a=1')).toEqual(['by-a', '1,2'])
    expect(await view('a=1&sort=b')).toEqual(['by-a', '2,1'])
    expect(await view('a=1&b=1')).toEqual(['by-a', '2'])
    await indexes.delete(where, 'by-b')
    expect(await view('b=1')).toEqual([undefined, '2,3'])
    await indexes.build()
    expect(await view('b=1')).toEqual([undefined, '2,3'])
  })

  test.each([undefined, 'by-a'])('after accepts U+0000, with the index %s', async (index) => {
    await documents.create(where, JSON.stringify({ id: '1\u0001', a: 1 }))
    if (index !== undefined) await indexes.put(where, index, ['a'])
    await indexes.build()
    expect(await view('a=1&after=1%00x')).toEqual([index, '1\u0001,2'])
  })

  test('an index of a restored backup is not taken for the one that had its id', async () => {
    await indexes.put(where, 'by-b', ['b'])
    await indexes.build()
    expect(await view('b=1')).toEqual(['by-b', '2,3'])
    const { id } = await store.db
      .selectFrom('document_indexes')
      .select('id')
      .executeTakeFirstOrThrow()
    await indexes.delete(where, 'by-b')
    await indexes.put(where, 'by-a', ['a'])
    await indexes.build()
    await store.db.updateTable('index_entries').set({ index_id: id }).execute()
    await store.db.updateTable('document_indexes').set({ id }).execute()
    documents.clearCache()
    expect(await view('b=1')).toEqual([undefined, '2,3'])
    expect(await view('a=1')).toEqual(['by-a', '1,2'])
  })

  test('indexes that were read before a backup was restored are not kept', async () => {
    await indexes.put(where, 'by-b', ['b'])
    await indexes.build()
    const repository = createDocumentRepository(store)
    const { indexes: reader } = repository
    const [read, restored] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const ready = async (collection: typeof where) => {
      const found = await reader.ready(collection)
      read.resolve()
      await restored.promise
      return found
    }
    documents = createTestDocuments({
      repository: { ...repository, indexes: { ...reader, ready } },
      now: () => 0,
    })
    const before = view('b=1')
    await read.promise
    const other = { name: 'by-a', fields: '["a"]' }
    await store.db.updateTable('document_indexes').set(other).execute()
    documents.clearCache()
    restored.resolve()
    await before
    expect(await view('b=1')).toEqual([undefined, '2,3'])
  })

  test.each([
    ['a scan', 'a=1', false, '1,2'],
    ['a count', 'limit=2', true, '1,2'],
  ])('%s begins once the caller has permission', async (_, query, count, ids) => {
    const { promise, resolve } = Promise.withResolvers<void>()
    let isFound = false
    const options = { count, permission: promise }
    const finding = Promise.resolve(find(query, options)).then((page) => {
      isFound = true
      return page
    })
    // Reads after it are answered, so it waits for its permission.
    for (let reads = 0; reads < 20; reads++) await view('b=1')
    expect(isFound).toBe(false)
    resolve()
    expect(viewOf(await finding)).toEqual([undefined, ids])
  })

  /** Runs `change` once, before the entries of an index are read for the `at`th time. */
  function beforeEntries(at: number, change: () => Promise<unknown>): void {
    const repository = createDocumentRepository(store)
    const { indexes: reader } = repository
    let reads = 0
    const entries: typeof reader.entries = async (...parameters) => {
      if (++reads === at) await change()
      return reader.entries(...parameters)
    }
    documents = createTestDocuments({
      repository: { ...repository, indexes: { ...reader, entries } },
      now: () => 0,
    })
  }

  test.each([
    ['read in order', 'a:gt=0&b:ne=9&sort=a,b', 1, '2,1,3'],
    ['read to its end in order', 'a:gt=0&b:ne=1&sort=a,b&limit=1', 2, '1'],
    ['read in the order of several streams', 'a:in=1,2&b:ne=9&sort=b,id&limit=1', 4, '2'],
    ['sorted', 'a:gt=0&sort=-b', 1, '1,2,3'],
  ])('a page whose index is dropped while it is %s is read without it', async (...given) => {
    const [, query, at, ids] = given
    await indexes.put(where, 'by-a', ['a', 'b'])
    await indexes.build()
    expect(await view(query)).toEqual(['by-a', ids])
    beforeEntries(at, () => indexes.delete(where, 'by-a'))
    expect(await view(query)).toEqual([undefined, ids])
  })

  test('a document that moves in an index while a page is read is on the page once', async () => {
    await indexes.put(where, 'by-n', ['n'])
    await indexes.build()
    for (let n = 1; n <= 8; n++) {
      const document = { id: `n${n}`, n, odd: n % 4 === 1 }
      await documents.create(where, JSON.stringify(document))
    }
    const move = () =>
      documents.patch({ ...where, id: 'n1' }, '{"n":9}', { match: undefined, noneMatch: undefined })
    beforeEntries(2, move)
    const page = await find('n:gt=0&odd=true&sort=n&limit=3')
    expect([...viewOf(page), page.returned, page.scanned]).toEqual(['by-n', 'n1,n5', 2, 9])
  })

  test.each<[string, string, string, number]>([
    ['no filter', '', '1,2', 3],
    ['equality', 'a=1', '1,2', 2],
    ['a range in order', 'b:gte=1&sort=-b', '1,2', 3],
    ['several ranges', 'a:in=2,1,none', '1,2', 3],
  ])('documents are counted without reading them, with %s', async (_, query, ids, total) => {
    await indexes.put(where, 'by-a', ['a'])
    await indexes.put(where, 'by-b', ['b'])
    await indexes.build()
    const repository = createDocumentRepository(store)
    const scan = () => Promise.reject(new Error('a scan'))
    const { indexes: reader } = repository
    documents = createTestDocuments({
      repository: {
        ...repository,
        ...(query !== '' && { list: scan, scan, extent: scan }),
        indexes: {
          ...reader,
          entries(collection, index, range, limit) {
            expect(limit).toBeLessThan(PAGE.max)
            return reader.entries(collection, index, range, limit)
          },
        },
      },
      now: () => 0,
    })
    const page = await find(`${query}&limit=2`, { count: true })
    expect([idsOn(page).join(), page.total]).toEqual([ids, total])
  })

  test.each<[query: string, ids: string, scanned: number, total: number]>([
    ['id=2', '2', 1, 1],
    ['id:in=3,1,none', '1,3', 2, 2],
    ['id:in=3,1,none&sort=-a', '3,1', 2, 2],
    ['id:in=3,1,none&sort=-id', '3,1', 2, 2],
    ['id:in=1,2,3&a=1', '1,2', 3, 2],
    ['id:in=1,2,3&after=1&limit=1', '2', 3, 3],
    ['id:in=1,2&id=2', '2', 1, 1],
    ['id=', '', 0, 0],
    ['id=2%00', '', 0, 0],
  ])('documents are read by their ids: %s', async (query, ids, scanned, total) => {
    const repository = createDocumentRepository(store)
    const scan = () => Promise.reject(new Error('a scan'))
    documents = createTestDocuments({
      repository: { ...repository, list: scan, scan, extent: scan },
      now: () => 0,
    })
    const page = await find(query)
    expect([idsOn(page).join(), page.scanned, page.index]).toEqual([ids, scanned, undefined])
    expect((await find(query, { count: true })).total).toBe(total)
  })

  test('pages in the opposite order of ids end when they are complete, and need no slot', async () => {
    const many = Array.from({ length: 3_000 }, (_, at) => ({ id: `m${1_000 + at}`, a: at % 2 }))
    await createDocumentRepository(store).insert(
      where,
      many.map(({ id, ...rest }) => ({ id, body: JSON.stringify({ id, ...rest }) })),
    )
    const scans = allowOneScan()
    const filtered = await find('a=1&sort=-id&limit=2')
    expect([idsOn(filtered).join(), filtered.scanned]).toEqual(['m3999,m3997', 1_000])
    const { promise, resolve } = Promise.withResolvers<void>()
    const other = scans.run(new AbortController().signal, () => promise)
    await indexes.put(where, 'by-id', ['-id'])
    await indexes.build()
    const seen: string[] = []
    let parameters = 'sort=-id&limit=1000'
    for (let page: FoundPage; ; ) {
      page = await find(parameters)
      seen.push(...idsOn(page))
      expect(page.index).toBeUndefined()
      if (page.nextParameter === undefined) break
      parameters = `sort=-id&limit=1000&${page.nextParameter.join('=')}`
    }
    expect(seen).toEqual(['1', '2', '3', ...many.map(({ id }) => id)].reverse())
    resolve()
    await other
    const { total, nextParameter } = await find('sort=-id&limit=2', { count: true })
    expect(total).toBe(3_003)
    const next = await find(`sort=-id&limit=1&${nextParameter?.join('=')}`, { count: true })
    expect([idsOn(next), next.total]).toEqual([['m3997'], 3_003])
  })

  test.each([
    ['by id', 'id:in=l1,l2&fields=a', undefined],
    ['by a scan', 'a=5&fields=id', undefined],
    ['by a sorted scan', 'a=5&fields=id&sort=b', undefined],
    ['by an index', 'c=7&fields=id', 'by-c'],
    ['by an index, in order', 'c=7&b:ne=1&fields=id', 'by-c'],
    ['by an index, sorted', 'c=7&fields=id&sort=b', 'by-c'],
  ])('a query of large documents parses only what it reads: %s', async (_, query, index) => {
    await indexes.put(where, 'by-c', ['c'])
    await indexes.build()
    for (const id of ['l1', 'l2']) {
      const list = Array.from({ length: 20_000 }, () => ({}))
      await documents.create(where, JSON.stringify({ id, a: 5, c: 7, list }))
    }
    const parse = vi.spyOn(JSON, 'parse')
    const page = await find(query)
    const longest = Math.max(...parse.mock.calls.map(([text]) => text.length))
    parse.mockRestore()
    expect(viewOf(page)).toEqual([index, 'l1,l2'])
    expect(longest).toBeLessThan(1_000)
  })

  test.each([
    ['by id', 'id:in=l1,l2&large.x:exists=false', undefined],
    ['by a scan', 'a=5&large.x:exists=false', undefined],
    ['by a sorted scan', 'a=5&sort=large.x', undefined],
    ['by an index, in order', 'c=7&large.x:exists=false', 'by-c'],
    ['by an index, sorted', 'c=7&sort=large.x', 'by-c'],
    ['by an index alone', 'd=7&sort=large.x&limit=1', 'by-d'],
  ])('a query reads large fields: %s', async (_, query, index) => {
    await indexes.put(where, 'by-c', ['c'])
    await indexes.put(where, 'by-d', ['d', 'large.x'])
    await indexes.build()
    for (const id of ['l1', 'l2']) {
      const large = { list: Array(50_000).fill({}) }
      await documents.create(where, JSON.stringify({ id, a: 5, c: 7, d: 7, large }))
    }
    const page = await find(query)
    expect(viewOf(page)).toEqual([index, query.includes('limit') ? 'l1' : 'l1,l2'])
  })

  test('selected fields need a slot only if the documents are large', async () => {
    const scans = allowOneScan()
    const { promise, resolve } = Promise.withResolvers<void>()
    const other = scans.run(new AbortController().signal, () => promise)
    for (const query of ['fields=a&limit=2', 'fields=a&limit=2&sort=-id', 'fields=a']) {
      expect((await find(query)).returned).toBeGreaterThan(1)
    }
    for (const id of ['l1', 'l2', 'l3', 'l4']) {
      await documents.create(where, JSON.stringify({ id, text: 'x'.repeat(400_000) }))
    }
    const large = Promise.resolve(find('fields=a'))
    await expect(large).rejects.toMatchObject({ code: 'busy' })
    resolve()
    await other
    expect((await find('fields=a')).returned).toBe(7)
  })

  test.each<[string, boolean, string[] | undefined, string]>([
    ['a=1', false, ['a'], 'An index on a would serve it. Begin after an id with after, or request'],
    ['b:ne=9', false, undefined, 'documents. Begin after an id with after, or request a job'],
    ['a=1&fields=b', false, ['a'], 'Begin after an id with after.'],
    ['a=1&sort=-b', false, ['a', '-b'], 'An index on a, -b would serve it.'],
    ['b:ne=9&sort=-id', false, undefined, 'documents.'],
    ['id:gt=1&sort=-id', false, ['-id'], 'An index on -id would serve it.'],
    ['a=1', true, ['a'], 'Without Prefer: count=exact, it reads fewer documents.'],
  ])(
    'the error of a scan for %s that takes too long, counted: %s, advises what helps',
    async (query, count, fields, advice) => {
      const scans = new ScanLimit({ ...SCANS, work: -1 })
      const repository = createDocumentRepository(store)
      documents = createTestDocuments({ repository, now: () => 0, scans })
      const stopped = await Promise.resolve()
        .then(() => find(query, { count }))
        .catch((error: Failure) => error)
      expect(stopped).toMatchObject({ code: 'query-too-expensive' })
      const { message, details } = stopped as Failure
      expect(details.fields).toEqual(fields)
      expect(message).toContain(advice)
      if (query.includes('sort') || count) expect(message).not.toMatch(/with after|respond-async/)
      if (query.includes('fields')) expect(message).not.toContain('respond-async')
    },
  )

  test('more documents than a statement counts are counted within the limits of scans', async () => {
    await sql`
      insert into documents select 'db', 'articles', 'd' || n, 'x', '{"id":"d' || n || '","b":1}'
      from (
        with recursive numbers(n) as (
          select 1 union all select n + 1 from numbers where n < ${COUNT_BATCH + 2})
        select n from numbers) as numbers`.execute(store.db)
    expect((await find('limit=1', { count: true })).total).toBe(COUNT_BATCH + 5)
    await indexes.put(where, 'by-b', ['b'])
    await indexes.build()
    const page = await find('b=1&limit=1', { count: true })
    expect([page.index, page.total]).toEqual(['by-b', COUNT_BATCH + 4])

    const scans = allowOneScan()
    const { promise, resolve } = Promise.withResolvers<void>()
    const other = scans.run(new AbortController().signal, () => promise)
    for (const query of ['limit=1', 'b=1&limit=1', 'b:ne=2&limit=1']) {
      const counting = Promise.resolve().then(() => find(query, { count: true }))
      await expect(counting).rejects.toMatchObject({ code: 'busy' })
    }
    resolve()
    await other
  })
})
