import { once } from 'node:events'
import { connect } from 'node:net'
import { type SQLInputValue, StatementSync } from 'node:sqlite'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { openStore } from '../storage/open.ts'
import { startForTest, type TestNode } from '../test-support/start.testing.ts'
import { WAIT } from '../test-support/wait.testing.ts'
import { createStoredDocuments } from './repository/stored-documents.ts'

const COUNT = 30_000

/** Turns without a statement after which the work of a request has ended. */
const QUIET = 200

// One engine, because the engines do not know of clients.
describe('a client that disconnects stops', () => {
  let node: TestNode
  let statements = 0
  let job = ''

  beforeAll(async () => {
    node = await startForTest()
    const store = await openStore({ data: node.data }, 'tool')
    const ids = Array.from({ length: COUNT }, (_, at) => `d${String(at).padStart(6, '0')}`)
    const documents = ids.map((id, at) => ({
      id,
      body: JSON.stringify({ id, n: at, odd: at % 2 }),
    }))
    const where = { database: '_system', collection: 'articles' }
    await createStoredDocuments(store).insert(where, documents)
    await store.close()
    await node.request('PUT', '/_index/articles/by-odd', { fields: ['odd'] })
    const isReady = async () =>
      (await node.request('GET', '/_index/articles')).json[0].state === 'ready'
    await vi.waitUntil(isReady, WAIT)
    const headers = { Prefer: 'respond-async' }
    const listing = await node.request('GET', '/articles?n=-1', undefined, { headers })
    job = String(listing.headers.location)
    await vi.waitUntil(async () => (await node.request('GET', job)).status === 200, WAIT)
  })
  beforeEach(() => {
    const all: (...parameters: SQLInputValue[]) => unknown[] = StatementSync.prototype.all
    vi.spyOn(StatementSync.prototype, 'all').mockImplementation(function (
      this: StatementSync,
      ...parameters: SQLInputValue[]
    ): never {
      statements++
      return all.apply(this, parameters) as never
    } as never)
  })
  afterAll(() => node.stop())

  /** Waits until no statements run; returns the number since the last call. */
  async function workDone(): Promise<number> {
    for (let before = -1; before !== statements; ) {
      before = statements
      for (let turn = 0; turn < QUIET; turn++) await nextTurn()
    }
    const done = statements
    statements = 0
    return done
  }

  it.each<readonly [string, string, string, Record<string, string>]>([
    ['a scan', 'GET', '/articles?n=-1', {}],
    ['a sorted scan', 'GET', '/articles?sort=n', {}],
    ['a count', 'GET', '/articles?n:gte=0&limit=1', { Prefer: 'count=exact' }],
    ['a query by an index', 'GET', '/articles?odd=1&n=-1', {}],
    ['an export', 'GET', '/articles?n=-1', { Accept: 'application/x-ndjson' }],
    ['an export by an index', 'GET', '/articles?odd=1&n=-1', { Accept: 'text/csv' }],
    ['an export of a database', 'GET', '/_export', {}],
    ['the results of a listing', 'GET', '/_job?limit=1000', {}],
    ['a change of a collection', 'PATCH', '/articles?n=-1', {}],
    ['a deletion of a collection', 'DELETE', '/articles?n=-1', {}],
  ])('%s', async (_, method, path, headers) => {
    const body = method === 'PATCH' ? '{}' : ''
    const head = [
      `${method} ${path.replace('/_job', job)} HTTP/1.1`,
      'Host: 127.0.0.1',
      'Connection: close',
      `Authorization: Bearer ${node.token}`,
      `Content-Length: ${body.length}`,
      ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
    ]
    const request = `${head.join('\r\n')}\r\n\r\n${body}`
    await workDone()
    const complete = connect(node.port, '127.0.0.1').resume()
    complete.write(request)
    await once(complete, 'close')
    const all = await workDone()
    expect(all).toBeGreaterThan(20)

    const leaving = connect(node.port, '127.0.0.1')
    leaving.write(request)
    while (statements < all / 4) await nextTurn()
    leaving.destroy()
    expect(await workDone()).toBeLessThan(all * 0.75)
  })
})
