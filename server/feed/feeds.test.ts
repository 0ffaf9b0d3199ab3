import { beforeEach, expect, test } from 'vitest'
import {
  createDocumentRepository,
  type DocumentRepository,
} from '../documents/repository/stored-documents.ts'
import { createChangeDocuments } from '../documents/repository/writes/change-documents.ts'
import type { Store } from '../storage/store.ts'
import { forEachEngine } from '../storage/test-support/each-engine.testing.ts'
import { createFeeds, type Feeds } from './feeds.ts'

const where = { database: '_system', collection: 'articles' }
const DAY = 86_400_000
const onRecord = {
  record: async () => {},
  actor: { name: 'test', by: 'session' as const, address: null },
  target: '',
}
function present<T>(value: T | undefined): T {
  if (value === undefined) throw new Error('missing')
  return value
}
const body = (id: string, n: number) => JSON.stringify({ id, n })

forEachEngine((engine) => {
  let store: Store
  let feeds: Feeds
  let documents: DocumentRepository

  beforeEach(async () => {
    store = await engine.open()
    feeds = createFeeds(store)
    documents = createDocumentRepository(store)
  })

  test('every way of writing a document is in the feed', async () => {
    await documents.insert(where, [{ id: 'before', body: body('before', 0) }])
    const { feed } = await feeds.put(where, DAY, onRecord)
    const other = { ...where, collection: 'notes' }
    await documents.insert(other, [{ id: 'a', body: body('a', 0) }])
    await documents.insert(where, [{ id: 'a', body: body('a', 0) }])
    await documents.insert(where, [{ id: 'a', body: body('a', 9) }])
    await documents.insert(where, [
      { id: 'b', body: body('b', 0) },
      { id: 'c', body: body('c', 0) },
    ])
    const stored = await documents.read({ ...where, id: 'a' })
    const tag = await documents.update({ ...where, id: 'a' }, present(stored), body('a', 1))
    await documents.delete({ ...where, id: 'a' }, { tag: present(tag), body: body('a', 1) })
    await documents.write(
      where,
      [
        { id: 'b', body: body('b', 2) },
        { id: 'd', body: body('d', 2) },
      ],
      { replaces: true },
    )
    const c = await documents.read({ ...where, id: 'c' })
    const d = await documents.read({ ...where, id: 'd' })
    await createChangeDocuments(store)(
      where,
      [
        { ...present(c), next: body('c', 3) },
        { ...present(d), next: undefined },
      ],
      {},
    )
    const changes = await feeds.read(feed, 0)
    expect(changes.map(({ number }) => number)).toEqual(changes.map((_, at) => at + 1))
    const byKind = changes.map(
      ({ change, id, body }) => `${change} ${id} ${body && JSON.parse(body).n}`,
    )
    expect(byKind.slice(0, 5)).toEqual([
      'created a 0',
      'created b 0',
      'created c 0',
      'replaced a 1',
      'deleted a null',
    ])
    expect(byKind.slice(5).sort()).toEqual([
      'created d 2',
      'deleted d null',
      'replaced b 2',
      'replaced c 3',
    ])
    expect(changes[0]?.tag).toBe(stored?.tag)
    expect(await feeds.lastOf(feed)).toBe(9)
    expect(await feeds.read(feed, 7, 1)).toEqual([changes[7]])
    expect((await feeds.find(where))?.bytes).toBeGreaterThan(9 * 64)
  })
})
