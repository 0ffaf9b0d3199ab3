import { afterEach, beforeEach, expect, test } from 'vitest'
import { openStore } from '../../storage/open.ts'
import { storeDatabases } from '../../storage/test-support/databases.testing.ts'
import { makeDatabase } from '../../storage/test-support/each-engine.testing.ts'
import { expectRoundTrips } from '../../storage/test-support/round-trips.testing.ts'
import { startTcpProxy, type TcpProxy } from '../../storage/test-support/tcp-proxy.testing.ts'
import { openApp } from '../../test-support/app.testing.ts'
import { createTestDocuments } from '../documents.testing.ts'
import { openIndexesOf } from '../indexes/build/build-indexes.testing.ts'
import { parseDocumentQuery } from '../query/query.ts'
import { createDocumentRepository } from '../repository/stored-documents.ts'
import { idsOn } from './ids-on-page.testing.ts'

let proxy: TcpProxy
let databaseUrl: string
let opened: AsyncDisposableStack

beforeEach(async () => {
  opened = new AsyncDisposableStack()
  const database = await makeDatabase()
  opened.defer(database.remove)
  const url = new URL(database.databaseUrl)
  proxy = await startTcpProxy(Number(url.port))
  opened.defer(proxy.close)
  url.port = String(proxy.port)
  databaseUrl = url.href
})

afterEach(() => opened.disposeAsync())

const RUNS = 10

/**
 * Returns the median number of round trips one after the other. Other queries, such as the health
 * checks of a slow machine, may be counted in a run, or hide those that overlap with them.
 */
async function medianOfRuns(work: () => Promise<unknown>) {
  const counts: number[] = []
  for (let run = 0; run < RUNS; run++) {
    const before = proxy.sequentialRoundTrips
    await work()
    counts.push(proxy.sequentialRoundTrips - before)
  }
  return counts.sort((one, other) => one - other)[RUNS / 2]
}

test('credentials and page of a listing share a round trip', async () => {
  const { request, token, close } = await openApp({ databaseUrl })
  opened.defer(close)
  const post = (path: string, method: string, body: unknown) =>
    request(path, {
      method,
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify(body),
    })
  await post('/_db/blog/articles', 'POST', [
    { id: '1', author: 'ada' },
    { id: '2', author: 'grace' },
  ])
  await post('/_db/blog/_index/articles/by-author', 'PUT', { fields: ['author'] })
  const planOf = async () =>
    (await request('/_db/blog/articles?author=ada')).headers.get('Query-Plan')
  await expect.poll(planOf).toMatch(/^index=/)
  for (const query of ['', '?sort=-id', '?author=ada']) {
    const path = `/_db/blog/articles${query}`
    const read = async () => expect((await request(path)).status).toBe(200)
    await expect.poll(() => medianOfRuns(read)).toBe(1)
  }
  // A caller without permission gets no page, and its scan does not begin.
  const scan = '/_db/blog/articles?text=x'
  for (const [Authorization, status] of [
    [`Bearer ${token}`, 200],
    [`Bearer ${token.slice(0, -1)}${token.endsWith('a') ? 'b' : 'a'}`, 401],
  ] as const) {
    expect((await request(scan, { headers: { Authorization } })).status).toBe(status)
  }
})

test('the pages of one turn of the event loop share statements', async () => {
  const where = { database: 'db', collection: 'articles' }
  // A tool has no connection for notifications, whose queries would count.
  const store = await openStore({ databaseUrl }, 'tool')
  opened.defer(store.close)
  await storeDatabases(store, 'db')
  const documents = createTestDocuments({
    repository: createDocumentRepository(store),
    now: () => 0,
  })
  const indexes = openIndexesOf(store)
  await indexes.put(where, 'by-n', ['n'])
  await indexes.build()
  const numbers = Array.from({ length: 10 }, (_, n) => n)
  await Promise.all(numbers.map((n) => documents.create(where, JSON.stringify({ id: `${n}`, n }))))
  const find = async (query: string) =>
    idsOn(
      await documents.find(where, parseDocumentQuery(new URLSearchParams(query)), {
        count: false,
        reserve: () => undefined,
        signal: () => new AbortController().signal,
      }),
    ).join()
  const byIndex = (limits: readonly number[]) => () =>
    Promise.all(
      limits.flatMap((limit) =>
        numbers.map((n) => find(`n:gte=${n}&n:lte=${n}&sort=n&limit=${limit}`)),
      ),
    )
  const inIdOrder = () => Promise.all(numbers.map((n) => find(`limit=1&after=${n - 1}`)))
  expect(await byIndex([1])()).toEqual(numbers.map(String))
  // A statement reads up to 20 pages, and up to 1,000 documents.
  await expectRoundTrips(proxy, 1, byIndex([1, 2]))
  await expectRoundTrips(proxy, 2, byIndex([1, 2, 3]))
  await expectRoundTrips(proxy, 1, byIndex([100]))
  await expectRoundTrips(proxy, 2, byIndex([99, 100]))
  await expectRoundTrips(proxy, 1, inIdOrder)
  // The document after a page is not read: it is too large to be read together with other pages.
  const text = 'x'.repeat(3_000)
  await documents.create(where, JSON.stringify({ id: '00', n: 10, text }))
  await expectRoundTrips(proxy, 1, async () =>
    expect(await find('n:gte=8&n:lt=20&sort=n&limit=2')).toBe('8,9'),
  )
})
