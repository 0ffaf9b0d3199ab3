import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Store } from '../../storage/store.ts'
import { type EngineNode, forEachEngineNode } from '../../test-support/each-engine-node.testing.ts'

// Background work of a node after a database is dropped.

forEachEngineNode((start) => {
  let node: EngineNode
  let store: Store

  beforeAll(async () => {
    node = await start()
    store = await node.openStore()
  })
  afterAll(async () => {
    await store.close()
    await node.stop()
  })

  it('dropping a database deletes its documents, jobs and schemas', async () => {
    for (const name of ['blog', 'shop']) await node.request('POST', '/_api/database', { name })
    await node.request('POST', '/_db/blog/articles', { id: 'one' })
    for (const path of ['/_db/blog/_schema/articles', '/_db/shop/_schema/orders']) {
      expect((await node.request('PUT', path, { type: 'object' })).status).toBe(201)
    }
    const countRows = async (table: 'documents' | 'schemas' | 'jobs') =>
      (await store.db.selectFrom(table).select('collection').execute()).length
    const later = { headers: { Prefer: 'respond-async' } }
    expect((await node.request('GET', '/_db/blog/articles', undefined, later)).status).toBe(206)
    const all = [await countRows('documents'), await countRows('schemas'), await countRows('jobs')]
    expect(all).toEqual([1, 2, 1])

    await node.request('DELETE', '/_api/database/shop')
    await expect.poll(() => countRows('schemas')).toBe(1)
    expect(await countRows('documents')).toBe(1)
    await node.request('DELETE', '/_api/database/blog')
    await expect.poll(() => countRows('schemas')).toBe(0)
    await expect.poll(() => countRows('documents')).toBe(0)
    await expect.poll(() => countRows('jobs')).toBe(0)
  })
})
