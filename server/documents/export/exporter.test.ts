import { expect, test, vi } from 'vitest'
import { TIME_SLICE } from '../../concurrency/turns.ts'
import type { Store } from '../../storage/store.ts'
import { storeDatabases } from '../../storage/test-support/databases.testing.ts'
import { forEngine } from '../../storage/test-support/each-engine.testing.ts'
import { openIndexesOf } from '../indexes/build/build-indexes.testing.ts'
import { planQuery } from '../indexes/plan.ts'
import { type ExportFormat, parseExportQuery } from '../query/query.ts'
import { BATCH_BYTES } from '../repository/scan-batch.ts'
import { createDocumentRepository } from '../repository/stored-documents.ts'
import { createExporter, EXPORTS, type Exporter, ExportLimit } from './exporter.ts'
import { readMatching } from './read-matching.ts'
import { openSnapshotReader } from './snapshot-reader.ts'

const where = { database: 'db', collection: 'articles' }
const forever = new AbortController().signal

/** A field that takes long to parse, and its cell in CSV. */
const LIST = `"list":[${'{},'.repeat(20_000)}{}]`
const CELL = LIST.slice('"list":'.length)

async function storeArticles(store: Store, count: number, extra: object = {}): Promise<void> {
  await storeDatabases(store, 'db')
  const documents = Array.from({ length: count }, (_, at) => {
    const id = String(at).padStart(5, '0')
    return { id, body: JSON.stringify({ id, n: at % 7, ...extra }) }
  })
  await createDocumentRepository(store).insert(where, documents)
}

/** Counts the queries of snapshots that the store opens, and the documents that one query returns. */
function countQueries(store: Store) {
  const counted = { queries: 0, largest: 0 }
  const openSnapshot: Store['openSnapshot'] = async () => {
    const snapshot = await store.openSnapshot()
    return {
      prepareRead: (query) => {
        const run = snapshot.prepareRead(query)
        return async (...parameters) => {
          counted.queries++
          const result = await run(...parameters)
          const bodies = result.rows.filter((row) => Object.hasOwn(row as object, 'body'))
          counted.largest = Math.max(counted.largest, bodies.length)
          return result
        }
      },
      [Symbol.asyncDispose]: () => snapshot[Symbol.asyncDispose](),
    }
  }
  return { counted, store: { ...store, openSnapshot } }
}

const beginWith = (
  exporter: Exporter,
  query = '',
  format: ExportFormat = 'ndjson',
  signal = forever,
) => exporter.begin(where, parseExportQuery(new URLSearchParams(query), format), format, signal)

async function textOf(...parameters: Parameters<typeof beginWith>): Promise<string> {
  let text = ''
  for await (const chunk of (await beginWith(...parameters)).chunks) text += chunk
  return text
}

forEngine('sqlite', (engine) => {
  test('contains the documents of one point in time', async () => {
    const store = await engine.open()
    await storeArticles(store, 3_000)
    const exporter = createExporter(store)
    const { chunks } = await beginWith(exporter)
    let text = (await chunks.next()).value ?? ''
    await store.db.deleteFrom('documents').where('id', '>', '00001').execute()
    await store.db.updateTable('documents').set({ body: '{}', tag: '' }).execute()
    for await (const chunk of chunks) text += chunk
    const lines = text.split('\n')
    expect(lines).toHaveLength(3_001)
    expect(lines.slice(-2)).toEqual(['{"id":"02999","n":3}', ''])
    expect(await textOf(exporter)).toBe('{}\n{}\n')
    expect(exporter.running).toBe(0)
  })

  test.each([
    // For each document twice: for its columns and for its row.
    ['csv', '', 200],
    ['ndjson', 'fields=n', 100],
    ['json', 'fields=n', 100],
  ] as const)(
    'other work runs between documents that take time as %s',
    async (format, query, least) => {
      const store = await engine.open()
      await storeArticles(store, 100)
      const exporter = createExporter(store)
      const expected = await textOf(exporter, query, format)
      let [time, turns] = [0, 0]
      const clock = vi.spyOn(performance, 'now').mockImplementation(() => (time += TIME_SLICE))
      const count = () => {
        turns++
        next = setImmediate(count)
      }
      let next = setImmediate(count)
      try {
        expect(await textOf(exporter, query, format)).toBe(expected)
      } finally {
        clearImmediate(next)
        clock.mockRestore()
      }
      expect(turns).toBeGreaterThanOrEqual(least)
    },
  )

  test.each([
    ['fields=n', 'ndjson', '{"id":"00000","n":0}\n{"id":"00001","n":1}\n'],
    ['fields=n', 'json', '[\n{"id":"00000","n":0},\n{"id":"00001","n":1}\n]\n'],
    ['fields=n', 'csv', 'id,n\r\n00000,0\r\n00001,1\r\n'],
    ['n:gte=0&fields=n', 'csv', 'id,n\r\n00000,0\r\n00001,1\r\n'],
    ['fields=list', 'ndjson', `{"id":"00000",${LIST}}\n{"id":"00001",${LIST}}\n`],
    ['fields=list', 'csv', `id,list\r\n00000,"${CELL}"\r\n00001,"${CELL}"\r\n`],
    ['', 'csv', `id,n,u,v,list\r\n00000,0,0,0,"${CELL}"\r\n00001,1,1,1,"${CELL}"\r\n`],
    ['n:gte=0&fields=id', 'ndjson', '{"id":"00000"}\n{"id":"00001"}\n'],
    ['sort=-n&fields=id', 'ndjson', '{"id":"00001"}\n{"id":"00000"}\n'],
    ['u:gte=0&fields=id', 'ndjson', '{"id":"00000"}\n{"id":"00001"}\n'],
    ['sort=u&fields=id', 'ndjson', '{"id":"00000"}\n{"id":"00001"}\n'],
  ] as const)(
    'of large documents parses only what it reads: %s as %s',
    async (query, format, expected) => {
      const store = await engine.open()
      await storeDatabases(store, 'db')
      const documents = ['00000', '00001'].map((id, n) => ({
        id,
        body: `{"id":"${id}","n":${n},"u":${n},"v":${n},${LIST}}`,
      }))
      await createDocumentRepository(store).insert(where, documents)
      const stored = openIndexesOf(store)
      // The export reads the fields of a unique index to check its entries.
      await stored.put(where, 'by-u', ['u', 'v'], true)
      await stored.build()
      const exporter = createExporter(store)
      const parse = vi.spyOn(JSON, 'parse')
      const text = await textOf(exporter, query, format)
      const longest = Math.max(...parse.mock.calls.map(([each]) => each.length))
      parse.mockRestore()
      expect(text).toBe(expected)
      expect(longest).toBeLessThan(1_000)
    },
  )

  test.each(['ndjson', 'csv'] as const)(
    'a client that disconnects stops an export as %s',
    async (format) => {
      const { store, counted } = countQueries(await engine.open())
      await storeArticles(store, 6_000)
      const exporter = createExporter(store)
      await textOf(exporter, 'n=3', format)
      const all = counted.queries
      const client = new AbortController()
      const { chunks } = await beginWith(exporter, 'n=3', format, client.signal)
      await chunks.next()
      counted.queries = 0
      client.abort()
      await expect(chunks.next()).rejects.toMatchObject({ code: 'busy' })
      expect(exporter.running).toBe(0)
      const stopped = await beginWith(exporter, 'n=3', format)
      await stopped.chunks.return()
      expect(exporter.running).toBe(0)
      expect(counted.queries).toBeLessThan(all / 2)
    },
  )

  test('sorts by an index, even more documents than it sorts in memory', async () => {
    const store = await engine.open()
    await storeArticles(store, 1_200)
    const stored = openIndexesOf(store)
    const opened = new AsyncDisposableStack()
    const read = async (query: string, documents: number) => {
      const reader = opened.use(await openSnapshotReader(store))
      const deps = { reader, check: () => {} }
      const parsed = parseExportQuery(new URLSearchParams(query), 'ndjson')
      const plan = planQuery(await reader.indexes.ready(where), { ...parsed, count: false })
      const ids: string[] = []
      const limits = { documents, characters: 1_000_000 }
      for await (const some of readMatching(deps, where, parsed, plan, limits)) {
        ids.push(...some.map(({ id }) => id))
      }
      return ids
    }
    const expected = await read('sort=-n', 1_200)
    expect(expected.slice(0, 2)).toEqual(['00006', '00013'])
    await expect(read('sort=-n', 1_199)).rejects.toMatchObject({
      code: 'query-too-expensive',
      details: { field: 'sort', fields: ['-n'] },
    })
    await stored.put(where, 'by-n', ['-n'])
    await stored.build()
    expect(await read('sort=-n', 10)).toEqual(expected)
    // Too many entries to sort by id: it reads the collection.
    const byId = await read('n:lt=3', 10)
    expect(byId).toHaveLength(516)
    expect(byId).toEqual([...byId].sort())
    expect(await read('n:lt=3&sort=-id', 10)).toEqual(byId.toReversed())
    await opened.disposeAsync()
  })

  test('are in the opposite order of ids without a sort', async () => {
    const store = await engine.open()
    await storeArticles(store, 1_200)
    const reader = await openSnapshotReader(store)
    const deps = { reader, check: () => {} }
    const query = parseExportQuery(new URLSearchParams('n:ne=3&sort=-id'), 'ndjson')
    const limits = { documents: 1, characters: 1 }
    const ids: string[] = []
    for await (const some of readMatching(deps, where, query, undefined, limits)) {
      ids.push(...some.map(({ id }) => id))
    }
    await reader[Symbol.asyncDispose]()
    expect([ids.length, ids[0], ids.at(-1)]).toEqual([1_029, '01199', '00000'])
    expect(ids).toEqual(ids.toSorted().reverse())
  })

  test.each([
    ['id:in=00002,00001,none,00001', ['00001', '00002']],
    ['id:in=00002,00001&sort=-id', ['00002', '00001']],
    ['id:in=00001,00002,00003&n:ne=2&sort=-n', ['00003', '00001']],
    ['id=00001%00', []],
  ])('are read by their ids: %s', async (query, expected) => {
    const store = await engine.open()
    await storeArticles(store, 10)
    const stored = openIndexesOf(store)
    await stored.put(where, 'by-n', ['-n'])
    await stored.build()
    const exporter = createExporter(store)
    expect((await textOf(exporter, query)).match(/(?<="id":")[^"]+/g) ?? []).toEqual(expected)
    const { chunks, index } = await beginWith(exporter, query)
    await chunks.return()
    expect(index).toBeUndefined()
    await using reader = await openSnapshotReader(store)
    const list = () => Promise.reject(new Error('a scan'))
    const deps = { reader: { ...reader, list }, check: () => {} }
    const parsed = parseExportQuery(new URLSearchParams(query), 'ndjson')
    const ids: string[] = []
    for await (const some of readMatching(deps, where, parsed, undefined)) {
      ids.push(...some.map(({ id }) => id))
    }
    expect(ids).toEqual(expected)
  })

  test('large documents are read one by one by their ids', async () => {
    const { store, counted } = countQueries(await engine.open())
    await storeArticles(store, 3, { text: 'x'.repeat(BATCH_BYTES * 0.6) })
    const text = await textOf(createExporter(store), 'id:in=00002,00000,00001')
    expect(text.match(/(?<="id":")[^"]+/g)).toEqual(['00000', '00001', '00002'])
    expect(counted.largest).toBe(1)
  })

  test('continues after the documents that an index has returned, if it cannot sort the others', async () => {
    const store = await engine.open()
    await storeDatabases(store, 'db')
    const ids = ['a', 'b', ...['x', 'y', 'z'].map((each) => each.repeat(256))]
    await createDocumentRepository(store).insert(
      where,
      ids.map((id) => ({ id, body: JSON.stringify({ id, a: 1, b: 2, c: 3, d: 4, e: 5 }) })),
    )
    const stored = openIndexesOf(store)
    await stored.put(where, 'by-all', ['a', 'b', 'c', 'd', 'e', 'id'])
    await stored.build()
    const reader = await openSnapshotReader(store)
    const deps = { reader, check: () => {} }
    const query = parseExportQuery(new URLSearchParams('a=1&b=2&c=3&d=4&e=5'), 'ndjson')
    const plan = planQuery(await reader.indexes.ready(where), { ...query, count: false })
    const limits = { documents: 1, characters: 1 }
    const found: string[] = []
    for await (const some of readMatching(deps, where, query, plan, limits)) {
      found.push(...some.map(({ id }) => id))
    }
    await reader[Symbol.asyncDispose]()
    expect(found).toEqual(ids)
  })
})

test('a node runs few exports at once, and rejects those that wait too long', async () => {
  const limit = new ExportLimit({ ...EXPORTS, wait: 1 })
  const slots = await Promise.all(
    Array.from({ length: EXPORTS.running }, () => limit.enter(forever)),
  )
  await expect(limit.enter(forever)).rejects.toMatchObject({
    code: 'busy',
    headers: { 'Retry-After': '5' },
  })
  const waiting = limit.enter(forever)
  slots[0]?.[Symbol.dispose]()
  const next = await waiting
  next.check()
  expect(limit.running).toBe(EXPORTS.running)
})

test('limits the number of waiting exports', async () => {
  const limit = new ExportLimit({ ...EXPORTS, running: 1, waiting: 1 })
  const slot = await limit.enter(forever)
  const waiting = limit.enter(forever)
  await expect(limit.enter(forever)).rejects.toMatchObject({ code: 'busy' })
  slot[Symbol.dispose]()
  await waiting
})

test('an export ends after its maximum duration', async () => {
  const slot = await new ExportLimit({ ...EXPORTS, duration: -1 }).enter(forever)
  expect(slot.check).toThrow(expect.objectContaining({ code: 'busy' }))
})
