import { beforeEach, describe, expect, it } from 'vitest'
import { storeDatabases } from '../../storage/test-support/databases.testing.ts'
import { forEachEngine } from '../../storage/test-support/each-engine.testing.ts'
import {
  createDocumentRepository,
  type DocumentRepository,
} from '../repository/stored-documents.ts'
import { createSizes, MEASURE_BATCH, MIN_REFRESH_INTERVAL, type Sizes } from './sizes.ts'

forEachEngine((engine) => {
  let repository: DocumentRepository
  let at: number
  const pause = () => new Promise((resolve) => setImmediate(resolve))
  const onError = (error: unknown) => {
    throw error
  }
  const begin = (over: Partial<DocumentRepository> = {}) =>
    createSizes({ repository: { ...repository, ...over }, now: () => at, pause, onError })

  beforeEach(async () => {
    at = 1_000_000
    const store = await engine.open()
    await storeDatabases(store, 'x', 'y')
    repository = createDocumentRepository(store)
  })
  const fill = (collection: string, count: number, database = 'x') =>
    repository.insert(
      { database, collection },
      Array.from({ length: count }, (_, n) => ({ id: `d${n}`, body: `{"ä":${n % 10}}` })),
    )
  /** Returns the databases whose sizes are known. A call waits 200 ms for a measurement. */
  const measured = async (sizes: Sizes, ...databases: string[]) => [
    ...(await sizes.of(databases)).keys(),
  ]

  describe('sizes', () => {
    it('count the documents of a database and their bytes in several steps', async () => {
      await fill('a', 3)
      await fill('b', MEASURE_BATCH + 1)
      await fill('c', 1)
      await fill('a', 7, 'y')
      const sizes = begin()
      await expect.poll(() => measured(sizes, 'x', 'z')).toEqual(['x', 'z'])
      const known = await sizes.of(['x', 'z'])
      expect(known.get('x')).toMatchObject({
        measured: at,
        collections: [
          { name: 'a', documents: 3, bytes: 24 },
          { name: 'b', documents: MEASURE_BATCH + 1, bytes: 8 * (MEASURE_BATCH + 1) },
          { name: 'c', documents: 1, bytes: 8 },
        ],
      })
      expect(known.get('z')?.collections).toEqual([])
    })

    it('are measured again only when outdated, with a bounded wait', async () => {
      await fill('a', 1)
      const sizes = begin()
      const documents = async () => (await sizes.of(['x'])).get('x')?.collections[0]?.documents
      await expect.poll(documents).toBe(1)
      await repository.insert({ database: 'x', collection: 'a' }, [{ id: 'e', body: '{}' }])
      expect(await documents()).toBe(1)
      at += MIN_REFRESH_INTERVAL
      await expect.poll(documents).toBe(2)
    })

    it('return known sizes while a large database is being measured', async () => {
      const { promise, resolve } = Promise.withResolvers<void>()
      const measure: DocumentRepository['measure'] = async (database, after, limit) => {
        if (database === 'large') await promise
        return repository.measure(database, after, limit)
      }
      await fill('a', 1)
      const sizes = begin({ measure })
      await expect.poll(() => measured(sizes, 'x', 'large')).toEqual(['x'])
      resolve()
      await expect.poll(() => measured(sizes, 'large')).toEqual(['large'])
      await sizes.stop()
    })
  })
})
