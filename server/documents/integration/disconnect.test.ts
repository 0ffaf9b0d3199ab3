import { beforeAll, describe, expect, it, vi } from 'vitest'
import { WAIT } from '../../test-support/wait.testing.ts'
import { createDisconnectFixture } from './disconnect.testing.ts'

const COUNT = 30_000

/** Counts read many documents at a time. */
const MANY = 80_000

/**
 * Documents that one request reads by an index without the limits of scans, one by one. Their size
 * is in bytes.
 */
const LARGE = { count: 26, bytes: 600 * 1024 } as const

const ASYNC = { Prefer: 'respond-async' }
const COUNTED = { Prefer: 'count=exact' }
const CSV = { Accept: 'text/csv' }
const NDJSON = { Accept: 'application/x-ndjson' }

/** Number of statements after which the client disconnects. */
const DISCONNECT_AFTER = 5

/** Maximum number of statements from then on: those of steps in progress, and of the clean-up. */
const UNTIL_STOPPED = 15

/** Maximum number of attempts until the server detects the disconnection early enough. */
const ATTEMPTS = 10

// One engine, because disconnections are handled above the engines.
describe('a client that disconnects stops', () => {
  const fixture = createDisconnectFixture()
  const jobs: Record<string, string> = {}

  beforeAll(async () => {
    await fixture.fill('articles', COUNT)
    await fixture.fill('counted', MANY)
    await fixture.fill('large', LARGE.count, 'x'.repeat(LARGE.bytes))
    await fixture.createIndex('articles', 'odd')
    await fixture.createIndex('counted', 'odd')
    await fixture.createIndex('large', 'n')
    jobs.articles = await list('/articles?n=-1')
    jobs.large = await list('/large?n:gte=0')
  })

  /** Lists documents by a job; returns its location after its end. */
  async function list(path: string): Promise<string> {
    const { node } = fixture
    const listing = await node.request('GET', path, undefined, { headers: ASYNC })
    const location = String(listing.headers.location)
    await vi.waitUntil(async () => (await node.request('GET', location)).status === 200, WAIT)
    return location
  }

  /**
   * Disconnects after some statements; returns how many there were. Retries if the server detected
   * the disconnection so late that it ran further ones.
   */
  async function leave(
    request: Parameters<typeof fixture.leave>[0],
    after: number,
  ): Promise<number> {
    let statements = Infinity
    for (let n = 0; n < ATTEMPTS && statements >= after + UNTIL_STOPPED; n++) {
      statements = await fixture.leave(request, after)
    }
    return statements
  }

  it.each<readonly [string, string, Record<string, string>]>([
    ['a scan', '/articles?n=-1', {}],
    ['a sorted scan', '/articles?sort=n', {}],
    ['a count', '/articles?n:gte=0&limit=1', COUNTED],
    ['a count of a collection', '/counted?limit=1', COUNTED],
    ['a count by an index', '/counted?odd=1&limit=1', COUNTED],
    ['a query by an index', '/articles?odd=1&n=-1', {}],
    ['an export', '/articles?n=-1', NDJSON],
    ['a sorted export', '/articles?sort=n', NDJSON],
    ['an export by an index', '/articles?odd=1&n=-1', CSV],
    ['an export of all fields', '/articles', CSV],
    ['an export of a database', '/_export', {}],
    ['the results of a listing', '/_job/articles?limit=1000', {}],
    ['the results of a listing by an index', '/_job/large', {}],
    ['the first part of a listing by an index', '/large?n:gte=0', ASYNC],
  ])('%s', async (_, path, headers) => {
    const request = {
      method: 'GET',
      path: path.replace(/^\/_job\/(\w+)/, (_, name) => jobs[name] ?? ''),
      headers,
    }
    const all = await fixture.complete(request)
    expect(all).toBeGreaterThan(DISCONNECT_AFTER + UNTIL_STOPPED)
    expect(await leave(request, DISCONNECT_AFTER)).toBeLessThan(DISCONNECT_AFTER + UNTIL_STOPPED)
  })

  // The first pass finds the columns or the order; the response begins with the second one.
  it.each([
    ['a sorted export', '/articles?sort=n', NDJSON],
    ['an export of all fields', '/articles', CSV],
  ])('%s in its second pass', async (_, path, headers) => {
    const request = { method: 'GET', path, headers }
    const all = await fixture.complete(request)
    const leaveAfter = Math.ceil(all * 0.6)
    expect(all).toBeGreaterThan(leaveAfter + UNTIL_STOPPED)
    expect(await leave(request, leaveAfter)).toBeLessThan(leaveAfter + UNTIL_STOPPED)
  })
})
