import { afterAll, beforeAll, expect, test } from 'vitest'
import { openStore } from '../../storage/open.ts'
import { makeDatabase } from '../../storage/test-support/each-engine.testing.ts'
import { startForTest, type TestNode } from '../../test-support/start.testing.ts'

// A backup restored under a running node on PostgreSQL may use the id of an index for another one.

let database: Awaited<ReturnType<typeof makeDatabase>>
let node: TestNode

beforeAll(async () => {
  database = await makeDatabase({ empty: true })
  node = await startForTest({ databaseUrl: database.databaseUrl })
})
afterAll(async () => {
  await node.stop()
  await database.remove()
})

async function planOf(query: string): Promise<string> {
  const { headers } = await node.request('GET', `/_db/blog/articles?${query}`)
  return String(headers['query-plan'])
}

test('a node forgets the indexes it knows when another process has changed the database', async () => {
  await node.request('POST', '/_api/database', { name: 'blog' })
  await node.request('POST', '/_db/blog/articles', { id: '1', a: 1, b: 1 })
  await node.request('PUT', '/_db/blog/_index/articles/by-b', { fields: ['b'] })
  await expect.poll(() => planOf('b=1')).toContain('index=by-b')
  await node.request('POST', '/_db/blog/articles', { id: '2', a: 1, b: 1 })
  const store = await openStore({ databaseUrl: database.databaseUrl }, 'tool')
  try {
    // The id and the entries remain: both fields have the same value.
    const restored = { name: 'by-a', fields: JSON.stringify(['a']) }
    await store.db.updateTable('document_indexes').set(restored).execute()
  } finally {
    await store.close()
  }
  await node.request('POST', '/_api/database', { name: 'news' })
  await expect.poll(() => planOf('b=1')).toContain('scan;')
  expect(await planOf('a=1')).toContain('index=by-a')
  await node.request('POST', '/_db/blog/articles', { id: '3', a: 5, b: 6 })
  await node.request('PUT', '/_db/blog/articles/2', { a: 5, b: 6 })
  const found = await node.request('GET', '/_db/blog/articles?a=5')
  expect(found.headers['query-plan']).toBe('index=by-a; scanned=2; returned=2')
})
