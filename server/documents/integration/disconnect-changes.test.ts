import { beforeAll, describe, expect, it } from 'vitest'
import { createDisconnectFixture } from './disconnect.testing.ts'

const COUNT = 30_000

/** Number of statements after which the client disconnects. */
const LEAVE_AFTER = 5

/** Maximum number of statements from then on: those of steps in progress, and of the clean-up. */
const UNTIL_STOPPED = 40

// One engine, because disconnections are handled above the engines.
describe('a client that disconnects stops', () => {
  const fixture = createDisconnectFixture()

  beforeAll(async () => {
    for (const collection of ['patched', 'deleted']) {
      await fixture.fill(collection, COUNT)
      await fixture.createIndex(collection, 'odd')
    }
  })

  const count = async (query: string): Promise<number> => {
    const headers = { Prefer: 'count=exact' }
    const path = `/${query}${query.includes('?') ? '&' : '?'}limit=1`
    const response = await fixture.node.request('GET', path, undefined, { headers })
    return Number(response.headers['x-total-count'])
  }

  // The deletion by an index leaves half of the documents to the other one.
  it.each([
    ['a patch that matches nothing', 'PATCH', 'patched?n=-1', 0],
    ['a deletion that matches nothing', 'DELETE', 'deleted?n=-1', 0],
    ['a patch of many documents', 'PATCH', 'patched', COUNT],
    ['a patch by an index', 'PATCH', 'patched?odd=1', COUNT / 2],
    ['a deletion by an index', 'DELETE', 'deleted?odd=1', COUNT / 2],
    ['a deletion of many documents', 'DELETE', 'deleted', COUNT / 2],
  ])('%s', async (_, method, query, affected) => {
    const patch = JSON.stringify({ by: query })
    const request = { method, path: `/${query}`, ...(method === 'PATCH' && { body: patch }) }
    const changed = async () =>
      method === 'PATCH' ? count(`patched?by:eq=${encodeURIComponent(query)}`) : count('deleted')
    const before = await changed()
    const left = await fixture.leave(request, LEAVE_AFTER)
    expect(left).toBeLessThan(LEAVE_AFTER + UNTIL_STOPPED)
    expect(await changed()).toBe(before)

    const all = await fixture.complete(request)
    expect(all).toBeGreaterThan(LEAVE_AFTER + UNTIL_STOPPED)
    expect(Math.abs((await changed()) - before)).toBe(affected)
  })
})
