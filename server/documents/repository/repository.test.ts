import { beforeEach, describe, expect, it, vi } from 'vitest'
import { START } from '../../audit/record.ts'
import { createDatabaseRegistry, type DatabaseRegistry } from '../../databases/registry.ts'
import type { IdRange } from '../../storage/sql/id-range.ts'
import type { Store } from '../../storage/store.ts'
import { storeDatabases } from '../../storage/test-support/databases.testing.ts'
import { forEachEngine } from '../../storage/test-support/each-engine.testing.ts'
import { createDocumentId } from '../document.ts'
import { createPurge, PURGE_BATCH, purgeDropped } from './document-counts.ts'
import { readStored } from './read-stored.testing.ts'
import { createDocumentRepository, type DocumentRepository } from './stored-documents.ts'

forEachEngine((engine) => {
  let store: Store
  let repository: DocumentRepository
  let databases: DatabaseRegistry
  const pause = async () => {}

  beforeEach(async () => {
    store = await engine.open()
    repository = createDocumentRepository(store)
    await storeDatabases(store, 'x', 'y')
    databases = await createDatabaseRegistry(
      store,
      () => {},
      async () => {},
    )
  })
  const fill = (database: string, collection: string, count: number) =>
    repository.insert(
      { database, collection },
      Array.from({ length: count }, (_, n) => ({ id: `d${n}`, body: `{"n":${n}}` })),
    )

  describe('documents', () => {
    it('are all inserted or none, even if only the last one already exists', async () => {
      const where = { database: 'x', collection: 'c' }
      await repository.insert(where, [{ id: 'b', body: '{}' }])
      const many = ['a', 'b'].map((id) => ({ id, body: '{}' }))
      expect(await repository.insert(where, many)).toEqual({ exists: 'b' })
      expect(await repository.insert(where, [{ id: 'b', body: '[]' }])).toEqual({ exists: 'b' })
      expect((await repository.list(where, {}, 9)).map(({ id }) => id)).toEqual(['b'])
    })

    it('cannot have U+0000 in their ids, but reads accept it', async () => {
      const where = { database: 'x', collection: 'c' }
      await repository.insert(where, [{ id: 'a', body: '1' }])
      expect(await repository.read({ ...where, id: 'a\0' })).toBeUndefined()
    })

    it('are updated and deleted only in the expected state', async () => {
      const ref = { database: 'x', collection: 'c', id: 'a' }
      const made = await repository.insert(ref, [{ id: 'a', body: '1' }])
      const old = { tag: 'tags' in made ? (made.tags[0] ?? '') : '', body: '1' }
      const tag = await repository.update(ref, old, '2')
      expect(tag).toBeDefined()
      expect(await repository.update(ref, old, '3')).toBeUndefined()
      expect(await repository.delete(ref, old)).toBe(false)
      const next = await readStored(repository, ref)
      expect(next).toEqual({ id: 'a', tag, body: '2' })
      expect(await repository.delete(ref, next)).toBe(true)
      expect(await repository.read(ref)).toBeUndefined()
    })

    it('are changed only under their own id', async () => {
      const ref = { database: 'x', collection: 'c', id: 'a' }
      const others = [
        { ...ref, database: 'y' },
        { ...ref, collection: 'd' },
        { ...ref, id: 'b' },
      ]
      for (const each of [ref, ...others]) {
        await repository.insert(each, [{ id: each.id, body: '1' }])
      }
      const makeSame = () => store.db.updateTable('documents').set({ tag: 'same' }).execute()
      await makeSame()
      expect(await repository.update(ref, { tag: 'same', body: '1' }, '2')).toBeDefined()
      await makeSame()
      expect(await repository.delete(ref, { tag: 'same', body: '2' })).toBe(true)
      for (const each of others) {
        expect(await repository.read(each)).toEqual({ id: each.id, tag: 'same', body: '1' })
      }
    })

    it('are not written into a dropped database, even if this process does not know of the drop', async () => {
      const ref = { database: 'x', collection: 'c', id: 'a' }
      await repository.insert(ref, [{ id: 'a', body: '1' }])
      const old = await readStored(repository, ref)
      await store.db.deleteFrom('databases').where('name', '=', 'x').execute()
      const many = ['b', 'c'].map((id) => ({ id, body: '2' }))
      const notFound = { code: 'database-not-found', message: 'database not found' }
      for (const change of [
        () => repository.insert(ref, [{ id: 'b', body: '2' }]),
        () => repository.insert(ref, many),
        () => repository.update(ref, old, '2'),
        () => repository.delete(ref, old),
      ]) {
        await expect(change()).rejects.toMatchObject(notFound)
      }
      expect(await repository.list(ref, {}, 9)).toEqual([old])
    })

    it('are listed in code point order after an id', async () => {
      const where = { database: 'x', collection: 'c' }
      await repository.insert(
        where,
        ['b', 'A', 'é', 'a', '_'].map((id) => ({ id, body: '{}' })),
      )
      const ids = async (range: IdRange) =>
        (await repository.list(where, range, 3)).map(({ id }) => id)
      expect(await ids({})).toEqual(['A', '_', 'a'])
      expect(await ids({ after: 'a' })).toEqual(['b', 'é'])
      expect(await ids({ isDescending: true })).toEqual(['é', 'b', 'a'])
      expect(await ids({ after: 'a', isDescending: true })).toEqual(['_', 'A'])
    })

    it('create their collections', async () => {
      await fill('x', 'b', 2)
      await fill('x', 'a', 1)
      await fill('y', 'c', 1)
      expect(await repository.collections('x')).toEqual(['a', 'b'])
      expect(await repository.databases()).toEqual(['x', 'y'])
    })

    it('yield while many collections are listed', async () => {
      const names = Array.from({ length: 120 }, (_, n) => `c${100 + n}`)
      await Promise.all(names.map((name) => fill('x', name, 1)))
      let turned = false
      setImmediate(() => {
        turned = true
      })
      let statements = 0
      const db = store.db.withPlugin({
        transformQuery: ({ node }) => node,
        async transformResult({ result }) {
          statements++
          return result
        },
      }) as Store['db']
      const found = await createDocumentRepository({ ...store, db }).collections('x')
      expect(found).toEqual(names)
      expect(turned).toBe(true)
      expect(statements).toBe(engine.name === 'sqlite' ? 3 : 1)
    })
  })

  describe('purgeDropped', () => {
    it('deletes the data of dropped databases only', async () => {
      await databases.create('kept', START)
      await databases.create('gone', START)
      const [kept, gone] = [databases.idOf('kept'), databases.idOf('gone')]
      await fill(kept, 'a', 3)
      await fill(gone, 'a', PURGE_BATCH + 5)
      await fill(gone, 'b', 2)
      await fill('_system', 'a', 1)
      expect(await purgeDropped(repository, pause)).toBe(0)
      await databases.drop('gone', START)
      expect(await purgeDropped(repository, pause)).toBe(PURGE_BATCH + 7)
      expect(await repository.databases()).toEqual(['_system', kept].sort())
    })

    it('stops between two deletions, and continues when woken', async () => {
      await databases.create('gone', START)
      await fill(databases.idOf('gone'), 'a', PURGE_BATCH * 3)
      await databases.drop('gone', START)
      const errors: unknown[] = []
      let pauses = 0
      const always = async () => true
      const onError = (error: unknown) => errors.push(error)
      const purgeOthers = vi.fn(async () => {})
      const first = createPurge(
        repository,
        always,
        async () => {
          pauses++
          void first.stop()
        },
        onError,
        purgeOthers,
      )
      first.wake()
      await first.stop()
      expect(pauses).toBeLessThan(3)
      expect(purgeOthers).not.toHaveBeenCalled()
      const second = createPurge(repository, always, pause, onError, purgeOthers)
      second.wake()
      await expect.poll(() => repository.databases()).toEqual([])
      await expect.poll(() => purgeOthers).toHaveBeenCalledOnce()
      await second.stop()
      expect(errors).toEqual([])
    })

    it('keeps a database that this process has not loaded yet', async () => {
      const other = await createDatabaseRegistry(
        store,
        () => {},
        async () => {},
      )
      await other.create('fresh', START)
      await fill(other.idOf('fresh'), 'a', 2)
      expect(() => databases.idOf('fresh')).toThrow('database not found')
      expect(await purgeDropped(repository, pause)).toBe(0)
    })
  })

  it('gives a recreated database a new id', async () => {
    await databases.create('blog', START)
    const first = databases.idOf('blog')
    await databases.drop('blog', START)
    await databases.create('blog', START)
    expect(databases.idOf('blog')).not.toBe(first)
  })
})

describe('createDocumentId', () => {
  it('creates ids that sort by creation time', () => {
    const times = Array.from({ length: 3_000 }, (_, n) => 1_700_000_000_000 + Math.floor(n / 500))
    const ids = times.map(createDocumentId)
    expect(new Set(ids).size).toBe(ids.length)
    expect(ids.toSorted()).toEqual(ids)
    // Ids stay sorted when the clock goes back.
    expect(createDocumentId(0) > (ids.at(-1) ?? '')).toBe(true)
  })
})
