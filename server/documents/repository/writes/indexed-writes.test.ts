import { beforeEach, describe, expect, it } from 'vitest'
import type { Store } from '../../../storage/store.ts'
import { forEachEngine, forEngine } from '../../../storage/test-support/each-engine.testing.ts'
import { createEntityTag } from '../../document.ts'
import { openIndexesOf } from '../../indexes/build/build-indexes.testing.ts'
import { expectEntriesOfDocuments } from '../../indexes/write/stored-entries.testing.ts'
import { pauseAfterOpeningIndexes } from '../after-statement.testing.ts'
import { createDocumentRepository, type DocumentRepository } from '../stored-documents.ts'

const where = { database: '_system', collection: 'articles' }

/** Stores documents concurrently; returns the id of each, or its conflict. */
async function insertAll(repository: DocumentRepository, documents: readonly { id: string }[]) {
  const results = await Promise.allSettled(
    documents.map((each) =>
      repository.insert(where, [{ id: each.id, body: JSON.stringify(each) }]),
    ),
  )
  return results.map((result, at) => {
    if (result.status === 'rejected') return result.reason.details ?? result.reason
    return 'exists' in result.value ? result.value : documents[at]?.id
  })
}

const some = (count: number, from = 0) =>
  Array.from({ length: count }, (_, at) => ({ id: `d${from + at}`, n: from + at, author: `${at}` }))

async function putIndexes(store: Store) {
  const indexes = openIndexesOf(store)
  await indexes.put(where, 'by-n', ['n'], true)
  await indexes.put(where, 'by-author', ['author', '-n'])
  await indexes.build()
  return indexes
}

/** Returns a repository that knows the indexes, as it does from the second insertion on. */
async function openRepository(store: Store) {
  const repository = createDocumentRepository(store)
  await insertAll(repository, [{ id: createEntityTag() }])
  return repository
}

forEachEngine((engine) => {
  let store: Store
  let indexes: ReturnType<typeof openIndexesOf>
  let repository: DocumentRepository

  beforeEach(async () => {
    store = await engine.open()
    indexes = await putIndexes(store)
    repository = await openRepository(store)
  })

  describe('documents that are inserted concurrently', () => {
    it('are rejected one by one if they conflict with a unique index or an id', async () => {
      await insertAll(repository, [{ id: 'stored', n: 1_000 } as never])
      const documents = [
        ...some(10),
        { id: 'twin', n: 1_000 },
        { id: 'stored', n: 2_000 },
        { id: 'one', n: 3_000 },
        { id: 'other', n: 3_000 },
        ...some(10, 10),
      ]
      const inserted = await insertAll(repository, documents)
      const ids = documents.map(({ id }) => id)
      const rival = (document: string) => ({ field: '/n', index: 'by-n', document })
      expect(inserted.slice(0, 10)).toEqual(ids.slice(0, 10))
      expect(inserted.slice(14)).toEqual(ids.slice(14))
      expect(inserted.slice(10, 12)).toEqual([rival('stored'), { exists: 'stored' }])
      expect([
        ['one', rival('one')],
        [rival('other'), 'other'],
      ]).toContainEqual(inserted.slice(12, 14))
      await expectEntriesOfDocuments(store)
    })

    it('have entries in indexes that are created, built and deleted at the same time', async () => {
      let isChanging = true
      const change = async () => {
        await indexes.put(where, 'one', ['author'])
        await indexes.build()
        await indexes.put(where, 'two', ['-n', 'author'])
        await indexes.delete(where, 'one')
        await indexes.build()
        await indexes.put(where, 'one', ['-author'])
        await indexes.delete(where, 'by-author')
        await indexes.build()
      }
      const changing = change().finally(() => {
        isChanging = false
      })
      for (let from = 0; isChanging; from += 20) {
        const documents = some(20, from)
        expect(await insertAll(repository, documents)).toEqual(documents.map(({ id }) => id))
      }
      await changing
      await expectEntriesOfDocuments(store)
    })
  })
})

forEngine('postgres', (engine) => {
  it('does not keep indexes that were read before a backup was restored', async () => {
    const store = await engine.open()
    await putIndexes(store)
    const paused = pauseAfterOpeningIndexes(store)
    const repository = createDocumentRepository(paused.store)
    const inserting = insertAll(repository, some(1))
    await paused.paused
    // The backup uses the id of an index for another one.
    const { db } = store
    await db.updateTable('document_indexes').set({ fields: '["x"]' }).execute()
    repository.clearCache()
    paused.resume()
    await inserting
    await db.deleteFrom('documents').execute()
    await db.deleteFrom('index_entries').execute()
    await insertAll(repository, [{ id: 'a', x: 1 } as never])
    await expectEntriesOfDocuments(store)
  })

  it('nodes that insert the same values concurrently store one of them', async () => {
    const store = await engine.open()
    await putIndexes(store)
    const repository = await openRepository(store)
    const other = await openRepository(await engine.open())
    for (let from = 0; from < 100; from += 20) {
      const documents = some(20, from)
      const twins = documents.map((each) => ({ ...each, id: `t${each.n}` })).reverse()
      const [ours, theirs] = await Promise.all([
        insertAll(repository, documents),
        insertAll(other, twins),
      ])
      for (const [at, { id }] of documents.entries()) {
        const [one, two] = [ours[at], theirs.at(-1 - at)]
        const isOurs = one === id
        expect(isOurs ? two : one).toMatchObject({ index: 'by-n', document: isOurs ? one : two })
      }
    }
    await expectEntriesOfDocuments(store)
  })
})
