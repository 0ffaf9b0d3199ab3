import { sql } from 'kysely'
import { beforeEach, expect, test } from 'vitest'
import {
  createDocumentRepository,
  type DocumentRepository,
} from '../documents/repository/stored-documents.ts'
import { createChangeDocuments } from '../documents/repository/writes/change-documents.ts'
import type { Store } from '../storage/store.ts'
import { forEachEngine } from '../storage/test-support/each-engine.testing.ts'
import { createFeeds, type Feeds } from './feeds.ts'
import { createFollowers } from './followers.ts'

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
const row = (id: string) => ({ ...where, id, tag: id, body: body(id, 0) })
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

  test('changes are numbered in the order of their commits', async () => {
    const { feed } = await feeds.put(where, DAY, onRecord)
    const second = engine.name === 'sqlite' ? store : await engine.open('tool')
    const { promise: committed, resolve: commit } = Promise.withResolvers<void>()
    const { promise: begun, resolve: begin } = Promise.withResolvers<void>()
    const slow = createChangeDocuments(store)(where, [], {
      async commit(trx) {
        await trx.insertInto('documents').values(row('slow')).execute()
        begin()
        if (engine.name === 'postgres') await committed
        await trx.insertInto('documents').values(row('slower')).execute()
      },
    })
    await begun
    const single = createDocumentRepository(second)
    await single.insert(where, [{ id: 'fast', body: body('fast', 0) }])
    const before = await feeds.read(feed, 0)
    commit()
    await slow
    const ids = (await feeds.read(feed, 0)).map(({ id, number }) => `${number} ${id}`)
    if (engine.name === 'postgres') {
      expect(before.map(({ id }) => id)).toEqual(['fast'])
      expect(ids).toEqual(['1 fast', '2 slow', '3 slower'])
    } else expect(ids).toEqual(['1 slow', '2 slower', '3 fast'])
  })

  test('a follower reads the change of a transaction', async () => {
    const { feed } = await feeds.put(where, DAY, onRecord)
    const failures: unknown[] = []
    await using followers = createFollowers(feeds, store, (error) => failures.push(error))
    const follower = followers.follow(feed, () => {})
    await store.transaction((trx) => trx.insertInto('documents').values(row('a')).execute())
    if (engine.name !== 'sqlite') follower.look()
    await expect.poll(() => [follower.last, failures]).toEqual([1, []])
    follower.end()
  })

  test('expired changes are removed, then those of a former feed and the triggers', async () => {
    const { feed } = await feeds.put(where, DAY, onRecord)
    const notes = { ...where, collection: 'notes' }
    const { feed: other } = await feeds.put(notes, DAY, onRecord)
    for (const id of ['a', 'b', 'c']) await documents.insert(where, [{ id, body: body(id, 0) }])
    await documents.insert(notes, [{ id: 'a', body: body('a', 0) }])
    await store.db.updateTable('feed_entries').set({ at: 0 }).where('last', '<', 3).execute()
    const isRunning = () => false
    await feeds.prune(DAY + 1, isRunning)
    expect((await feeds.read(feed, 0)).map(({ number }) => number)).toEqual([3])
    expect(await feeds.find(where)).toMatchObject({ first: 2, last: 3, bytes: 64 + 1 + 16 })
    await store.db.updateTable('feed_entries').set({ at: 0 }).execute()
    await feeds.prune(DAY + 1, isRunning)
    // The next number continues after the removed ones.
    await documents.insert(where, [{ id: 'd', body: body('d', 0) }])
    expect(await feeds.find(where)).toMatchObject({ first: 3, last: 4 })

    await feeds.remove(where, onRecord)
    expect(await feeds.lastOf(feed)).toBeUndefined()
    await feeds.prune(0, isRunning)
    expect(await feeds.read(feed, 0)).toEqual([])
    await documents.insert(notes, [{ id: 'b', body: body('b', 0) }])
    expect(await feeds.lastOf(other)).toBe(2)
    await feeds.remove(notes, onRecord)
    await feeds.prune(0, isRunning)
    expect(await triggers()).toEqual([])
    await documents.insert(where, [{ id: 'e', body: body('e', 0) }])
    const again = await feeds.put(where, DAY, onRecord)
    expect(again.feed.epoch).not.toBe(feed.epoch)
    await documents.insert(where, [{ id: 'f', body: body('f', 0) }])
    expect((await feeds.read(again.feed, 0)).map(({ id }) => id)).toEqual(['f'])
  })

  test('without a feed, no trigger exists', async () => {
    expect(await triggers()).toEqual([])
  })

  async function triggers() {
    const query =
      engine.name === 'sqlite'
        ? sql`select name from sqlite_schema where type = 'trigger'`
        : sql`select tgname from pg_trigger where tgrelid = 'documents'::regclass and not tgisinternal`
    return (await query.execute(store.db)).rows
  }

  if (engine.name === 'sqlite') return

  test('turning a feed on waits for writers that do not know it', async () => {
    const { promise: committed, resolve: commit } = Promise.withResolvers<void>()
    const { promise: begun, resolve: begin } = Promise.withResolvers<void>()
    const writing = createChangeDocuments(await engine.open('tool'))(where, [], {
      async commit(trx) {
        await trx.insertInto('documents').values(row('a')).execute()
        begin()
        await committed
      },
    })
    await begun
    const turningOn = feeds.put(where, DAY, onRecord)
    await expect
      .poll(async () => {
        const { rows } = await sql`select 1 from pg_locks where not granted`.execute(store.db)
        return rows.length
      })
      .toBe(1)
    commit()
    await writing
    const { feed } = await turningOn
    expect(await documents.read({ ...where, id: 'a' })).toBeDefined()
    expect(await feeds.read(feed, 0)).toEqual([])
  })

  test('a change waits for another one that commits, and is made once', async () => {
    const { feed } = await feeds.put(where, DAY, onRecord)
    const { promise: committed, resolve: commit } = Promise.withResolvers<void>()
    const { promise: begun, resolve: begin } = Promise.withResolvers<void>()
    const locking = store.transaction(async (trx) => {
      await trx.updateTable('feeds').set({ retain: DAY }).execute()
      begin()
      await committed
    })
    await begun
    const inserting = ['a', 'b'].map((id) => documents.insert(where, [{ id, body: body(id, 0) }]))
    const inserted = Promise.all(inserting)
    // The batch gives up after 100 ms, and each change waits in a transaction of its own.
    await expect
      .poll(async () => {
        const { rows } = await sql`
          select 1 from pg_stat_activity
          where wait_event_type = 'Lock' and query ilike 'commit%'`.execute(store.db)
        return rows.length
      })
      .toBe(2)
    commit()
    await Promise.all([locking, inserted])
    const ids = (await feeds.read(feed, 0)).map(({ id, number }) => `${number} ${id}`)
    expect(ids.map((each) => each.slice(2)).sort()).toEqual(['a', 'b'])
    expect(await feeds.lastOf(feed)).toBe(2)
  })
})
