import { expect, it, vi } from 'vitest'
import type { Snapshot } from '../../storage/store.ts'
import { forEachEngine, forEngine } from '../../storage/test-support/each-engine.testing.ts'
import { createDocumentRepository } from '../repository/stored-documents.ts'
import { openSnapshotReader } from './snapshot-reader.ts'

forEngine('postgres', (engine) => {
  /** Begins to read three batches. `hold` makes the next query wait for its result. */
  async function open() {
    const store = await engine.open()
    const where = { database: '_system', collection: 'articles' }
    const ids = Array.from({ length: 2_001 }, (_, at) => `d${10_000 + at}`)
    const documents = ids.map((id) => ({ id, body: JSON.stringify({ id }) }))
    await createDocumentRepository(store).insert(where, documents)
    let held: Promise<unknown> = Promise.resolve()
    const run = vi.fn(<R>(query: () => R) => held.then(query))
    const openSnapshot = async (): Promise<Snapshot> => {
      const snapshot = await store.openSnapshot()
      const prepareRead = ((query) => {
        const read = snapshot.prepareRead(query)
        return (...parameters) => run(() => read(...parameters))
      }) as Snapshot['prepareRead']
      return { prepareRead, [Symbol.asyncDispose]: () => snapshot[Symbol.asyncDispose]() }
    }
    const reader = await openSnapshotReader({ ...store, openSnapshot })
    run.mockClear()
    const hold = () => {
      const { promise, resolve, reject } = Promise.withResolvers<void>()
      held = promise
      // The read that waits for it may begin later.
      promise.catch(() => {})
      return { resolve, reject }
    }
    const close = () => reader[Symbol.asyncDispose]()
    return { batches: reader.read(where, {}), run, hold, [Symbol.asyncDispose]: close }
  }

  it('reads the next documents while the last ones are used', async () => {
    await using opened = await open()
    const { batches, run } = opened
    expect((await batches.next()).value).toHaveLength(1_000)
    // Two for the batch, and the first one of the next.
    expect(run).toHaveBeenCalledTimes(3)
    expect((await batches.next()).value).toHaveLength(1_000)
    expect((await batches.next()).value).toMatchObject([{ id: 'd12000' }])
    expect(await batches.next()).toEqual({ value: undefined, done: true })
    expect(run).toHaveBeenCalledTimes(6)
  })

  it('reports the failure of a read when its documents are needed', async () => {
    await using opened = await open()
    const { batches, hold } = opened
    expect((await batches.next()).value).toHaveLength(1_000)
    const { reject } = hold()
    reject(new Error('the connection was lost'))
    // An unhandled rejection would fail the test here.
    await new Promise(setImmediate)
    await expect(batches.next()).rejects.toThrow('the connection was lost')
  })

  it('waits for a read when no more documents are needed', async () => {
    await using opened = await open()
    const { batches, hold } = opened
    await batches.next()
    const { resolve } = hold()
    const returned = vi.fn()
    const end = batches.return().then(returned)
    await new Promise(setImmediate)
    expect(returned).not.toHaveBeenCalled()
    resolve()
    await end
  })
})

forEachEngine((engine) => {
  it('reads a batch of documents in two statements', async () => {
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
    await using reader = await openSnapshotReader({ ...store, openSnapshot })
    queries = 0
    const read = async (after: string) => {
      const batches = []
      for await (const batch of reader.read(where, { after })) batches.push(batch)
      return batches
    }
    expect(await read('a')).toMatchObject([documents.slice(1)])
    expect(queries).toBe(2)
    expect(await read('c')).toEqual([[]])
  })
})
