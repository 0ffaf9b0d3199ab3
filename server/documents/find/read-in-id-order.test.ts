import { beforeEach, expect, test } from 'vitest'
import { storeDatabases } from '../../storage/test-support/databases.testing.ts'
import { forEachEngine } from '../../storage/test-support/each-engine.testing.ts'
import { openIndexesOf } from '../indexes/build/build-indexes.testing.ts'
import type { Filter } from '../query/filter.ts'
import {
  createDocumentRepository,
  type DocumentRepository,
} from '../repository/stored-documents.ts'
import { idsOn } from './ids-on-page.testing.ts'
import { createReadInIdOrder, type ReadInIdOrder } from './read-in-id-order.ts'
import { INDEXED_READ, SCANS, ScanLimit } from './scan-limit.ts'

const where = { database: 'db', collection: 'articles' }
/** In an order that is not that of `n`. */
const all = Array.from({ length: 60 }, (_, at) => ({
  id: `d${String((at * 7) % 60).padStart(2, '0')}`,
  kind: at % 2 === 0 ? 'even' : 'odd',
  n: at,
}))

forEachEngine((engine) => {
  let repository: DocumentRepository
  let read: ReadInIdOrder
  let byIndex: ReadInIdOrder

  const insert = (documents: readonly { readonly id: string }[]) =>
    repository.insert(
      where,
      documents.map((document) => ({ id: document.id, body: JSON.stringify(document) })),
    )

  beforeEach(async () => {
    const store = await engine.open()
    await storeDatabases(store, 'db')
    repository = createDocumentRepository(store)
    const indexes = openIndexesOf(store)
    await indexes.put(where, 'by-kind', ['kind'])
    await indexes.put(where, 'by-n', ['n'])
    await indexes.build()
    await insert(all)
    const scans = new ScanLimit()
    const scan = () => Promise.reject(new Error('a scan'))
    read = createReadInIdOrder({ repository, scans })
    byIndex = createReadInIdOrder({
      repository: { ...repository, list: scan, scan, extent: scan },
      scans,
    })
  })

  test('documents whose ids the filter lists are read without a scan', async () => {
    const filter: Filter = [
      ['id:in', 'd40,d07,none,d21,d20'],
      ['n:ne', '3'],
    ]
    const ids = async (...rest: [after?: string, upTo?: string, limit?: number]) => {
      const [after, upTo, limit = 9] = rest
      const bounds = { signal: new AbortController().signal, ...(upTo !== undefined && { upTo }) }
      const page = await byIndex(where, filter, after, limit, bounds)
      return `${idsOn(page)}${page.next === undefined ? '' : ` after ${page.next.id}`}`
    }
    expect(await ids()).toBe('d07,d20,d40')
    expect(await ids(undefined, undefined, 2)).toBe('d07,d20 after d20')
    expect(await ids('d07', 'd20')).toBe('d20')
    expect(await ids('d40')).toBe('')
    const reading = byIndex(where, filter, undefined, 9, {
      signal: AbortSignal.abort(),
    })
    await expect(reading).rejects.toMatchObject({ code: 'busy' })
  })

  test.each<[string, Filter]>([
    ['equality', [['kind', 'odd']]],
    ['several values', [['kind:in', 'odd,even,none']]],
    [
      'another condition',
      [
        ['kind', 'odd'],
        ['n:ne', '7'],
      ],
    ],
    ['a range', [['n:gte', '10']]],
    ['no match', [['n:gt', '100']]],
  ])('pages by an index with %s equal those of a scan', async (_, filter) => {
    const withoutIndexes = createReadInIdOrder({
      repository: { ...repository, indexes: { ...repository.indexes, ready: () => [] } },
      scans: new ScanLimit(),
    })
    for (const after of [undefined, 'd00', 'd31', 'x']) {
      for (const upTo of [undefined, 'd10', 'd40']) {
        for (const limit of [1, 5, 100]) {
          const bounds = upTo === undefined ? {} : { upTo }
          const [one, other] = [
            await byIndex(where, filter, after, limit, bounds),
            await withoutIndexes(where, filter, after, limit, bounds),
          ]
          expect([idsOn(one), one.next]).toEqual([idsOn(other), other.next])
          expect(one.index).toBeDefined()
        }
      }
    }
  })

  test('needs a slot to read many documents whose ids the filter lists', async () => {
    const scans = new ScanLimit({ ...SCANS, running: 1, wait: 1 })
    const limited = createReadInIdOrder({ repository, scans })
    const { promise, resolve } = Promise.withResolvers<void>()
    const other = scans.run(new AbortController().signal, () => promise)
    const listed = (count: number): Filter => [
      ['id:in', ['d07', ...Array.from({ length: count }, (_, n) => `none${n}`)].join()],
    ]
    expect(idsOn(await limited(where, listed(20), undefined, 9))).toEqual(['d07'])
    const many = listed(INDEXED_READ.entries + 100)
    await expect(limited(where, many, undefined, 9)).rejects.toMatchObject({ code: 'busy' })
    resolve()
    await other
    expect(idsOn(await limited(where, many, undefined, 9))).toEqual(['d07'])
  })

  test('needs a slot to scan, and stops when its client disconnects', async () => {
    const scans = new ScanLimit({ ...SCANS, running: 1, wait: 1 })
    const limited = createReadInIdOrder({ repository, scans })
    const { promise, resolve } = Promise.withResolvers<void>()
    const other = scans.run(new AbortController().signal, () => promise)
    const unserved: Filter = [['n:ne', '7']]
    await expect(limited(where, unserved, undefined, 9)).rejects.toMatchObject({ code: 'busy' })
    expect((await limited(where, [], undefined, 9)).returned).toBe(9)
    expect((await limited(where, [['kind', 'odd']], undefined, 9)).returned).toBe(9)
    resolve()
    await other
    expect((await limited(where, unserved, undefined, 9)).returned).toBe(9)
    const client = new AbortController()
    const reserve = async () => client.abort()
    await expect(
      limited(where, unserved, undefined, 9, { signal: client.signal, reserve }),
    ).rejects.toMatchObject({ code: 'busy' })
  })

  test('the error of a scan that takes too long names the fields of an index', async () => {
    const scans = new ScanLimit({ ...SCANS, work: -1 })
    const stopped = createReadInIdOrder({ repository, scans })
    const filter: Filter = [
      ['n:ne', '7'],
      ['year', '1843'],
    ]
    await expect(stopped(where, filter, undefined, 9)).rejects.toMatchObject({
      code: 'query-too-expensive',
      details: { fields: ['year'] },
      message: expect.stringContaining('An index on year would serve it.'),
    })
  })

  test('a range of too many entries is scanned', async () => {
    const more = Array.from({ length: INDEXED_READ.entries }, (_, at) => ({
      id: `e${at}`,
      n: 100 + at,
    }))
    for (let at = 0; at < more.length; at += 500) await insert(more.slice(at, at + 500))
    const filter: Filter = [['n:gte', '0']]
    await expect(byIndex(where, filter, undefined, 1)).rejects.toThrow('a scan')
    const page = await read(where, filter, 'd58', 2)
    expect([idsOn(page), page.index]).toEqual([['d59', 'e0'], undefined])
    expect((await byIndex(where, [['kind', 'odd']], 'd50', 1)).index).toBe('by-kind')
  })
})
