import { expect, it, vi } from 'vitest'
import type { Snapshot, Store } from '../../storage/store.ts'
import { forEachEngine } from '../../storage/test-support/each-engine.testing.ts'
import { createDocumentRepository } from '../repository/repository.ts'
import { openSnapshotReader } from './snapshot-reader.ts'

it('closes its snapshot if the first query fails', async () => {
  const close = vi.fn(async () => {})
  const failure = new Error('the connection was lost')
  const prepareRead = () => () => Promise.reject(failure)
  const db = { getExecutor: () => ({}) }
  const openSnapshot = async () => ({ prepareRead, [Symbol.asyncDispose]: close })
  const store = { db, openSnapshot } as unknown as Store
  await expect(openSnapshotReader(store, { database: 'db' }, () => {})).rejects.toThrow()
  expect(close).toHaveBeenCalledOnce()
})

forEachEngine((engine) => {
  it('reads a batch of documents in one round trip on PostgreSQL', async () => {
    const store = await engine.open()
    const where = { database: '_system', collection: 'articles' }
    const documents = ['a', 'b', 'c'].map((id) => ({ id, body: JSON.stringify({ id }) }))
    await createDocumentRepository(store).insert(where, documents)
    let queries = 0
    /** Returns a snapshot whose queries are counted. */
    const openSnapshot = async (): Promise<Snapshot> => {
      const snapshot = await store.openSnapshot()
      const prepareRead: Snapshot['prepareRead'] = (query) => {
        const run = snapshot.prepareRead(query)
        return (...parameters) => {
          queries++
          return run(...parameters)
        }
      }
      return { prepareRead, [Symbol.asyncDispose]: () => snapshot[Symbol.asyncDispose]() }
    }
    await using reader = await openSnapshotReader({ ...store, openSnapshot }, where, () => {})
    queries = 0
    expect(await reader.list(where, { after: 'a' })).toMatchObject(documents.slice(1))
    expect(queries).toBe(engine.name === 'postgres' ? 1 : 2)
    expect(await reader.list(where, { after: 'c' })).toEqual([])
  })
})
