import pg from 'pg'
import { afterEach, expect, test, vi } from 'vitest'
import { forEngine } from '../../../storage/test-support/each-engine.testing.ts'
import { openIndexesOf } from '../../indexes/build/build-indexes.testing.ts'
import { readStored } from '../read-stored.testing.ts'
import { createDocumentRepository } from '../stored-documents.ts'

const where = { database: '_system', collection: 'articles' }

forEngine('postgres', (engine) => {
  afterEach(() => {
    vi.useRealTimers()
  })

  test.each([
    ['in a collection without indexes', false],
    ['while an index is built', true],
  ])(
    'changes that wait for a long transaction leave connections for the others: %s',
    async (_, isBuilding) => {
      const store = await engine.open()
      const repository = createDocumentRepository(store)
      if (isBuilding) await openIndexesOf(store).put(where, 'by-n', ['n'])
      const ids = Array.from({ length: 12 }, (_, n) => `d${n}`)
      const documents = [...ids, 'free'].map((id) => ({ id, body: JSON.stringify({ id }) }))
      await repository.insert(where, documents)
      const stored = await Promise.all(ids.map((id) => readStored(repository, { ...where, id })))
      const long = new pg.Client((engine.location() as { databaseUrl: string }).databaseUrl)
      await long.connect()
      // A wait for a connection ends after some seconds, which a busy machine may take.
      vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
      await long.query("begin; select 1 from documents where id <> 'free' for update")
      let made = 0
      const changes = stored.map(async (old) => {
        const tag = await repository.update({ ...where, id: old.id }, old, old.body)
        if (tag !== undefined) made++
      })
      await expect.poll(() => store.connections()).toEqual({ used: 5, waiting: 7 })
      const free = { ...where, id: 'free' }
      const created = { ...where, collection: 'others' }
      expect(await repository.insert(created, [{ id: 'a', body: '{}' }])).toHaveProperty('tags')
      // While an index is built, each change is a transaction that may wait.
      if (!isBuilding) {
        expect(await repository.delete(free, await readStored(repository, free))).toBe(true)
      }
      expect(made).toBe(0)
      await long.end()
      await Promise.all(changes)
      expect(made).toBe(ids.length)
    },
  )
})
