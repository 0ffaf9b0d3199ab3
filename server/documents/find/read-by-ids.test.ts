import { expect, test, vi } from 'vitest'
import { TIME_SLICE } from '../../concurrency/turns.ts'
import { storeDatabases } from '../../storage/test-support/databases.testing.ts'
import { forEachEngine } from '../../storage/test-support/each-engine.testing.ts'
import { countTurns } from '../../test-support/count-turns.testing.ts'
import { parseDocumentQuery } from '../query/query.ts'
import { BATCH_BYTES } from '../repository/scan-batch.ts'
import { createDocumentRepository } from '../repository/stored-documents.ts'
import { idsOn } from './ids-on-page.testing.ts'
import { readByIds } from './read-by-ids.ts'
import type { Page } from './read-page.ts'
import type { IndexStep } from './scan-limit.ts'

const where = { database: 'db', collection: 'articles' }
const LARGE = BATCH_BYTES * 0.4
const all = Array.from({ length: 20 }, (_, at) => {
  const id = `d${at + 10}`
  return { id, body: JSON.stringify({ id, n: at, text: at % 5 === 0 ? '' : 'x'.repeat(LARGE) }) }
})

forEachEngine((engine) => {
  test('a step reads a limited size, and yields between documents that take long', async () => {
    const store = await engine.open()
    await storeDatabases(store, 'db')
    const repository = createDocumentRepository(store)
    for (const document of all) await repository.insert(where, [document])
    /** What the query has read before each step. */
    const read: { readonly entries: number; readonly bytes: number }[] = []
    const step: IndexStep = (entries, bytes, run) => {
      read.push({ entries, bytes })
      return Promise.resolve(run())
    }
    const ids = ['none', ...all.map(({ id }) => id)]
    const parsed = parseDocumentQuery(new URLSearchParams('fields=id'))
    const query = { ...parsed, from: undefined, count: false }
    // Each document seems to take longer than a slice.
    let time = 0
    const clock = vi.spyOn(performance, 'now').mockImplementation(() => (time += TIME_SLICE))
    let page: Page | undefined
    const turns = await countTurns(async () => {
      page = await readByIds({ repository }, where, ids, query, { reserve: () => undefined, step })
    })
    clock.mockRestore()
    expect(page && idsOn(page)).toEqual(all.map(({ id }) => id))
    expect(page?.scanned).toBe(all.length)
    const sizes = read.slice(1).map(({ bytes }, at) => bytes - (read[at]?.bytes ?? 0))
    expect(Math.max(...sizes)).toBeLessThan(BATCH_BYTES + 2 * LARGE)
    expect(read.at(-1)?.entries).toBeGreaterThan(all.length - 5)
    expect(turns).toBeGreaterThanOrEqual(all.length)
  })

  test('documents are counted before the query waits between two batches', async () => {
    const store = await engine.open()
    await storeDatabases(store, 'db')
    const repository = createDocumentRepository(store)
    for (const document of all) await repository.insert(where, [document])
    const query = { ...parseDocumentQuery(new URLSearchParams()), from: undefined, count: false }
    const ids = all.map(({ id }) => id)
    const calls: string[] = []
    const sizes: number[] = []
    await readByIds({ repository }, where, ids, query, {
      async reserve(bytes) {
        calls.push('reserve')
        sizes.push(bytes)
      },
      async step(_entries, _bytes, run) {
        calls.push('step')
        return run()
      },
    })
    expect(calls.join()).toMatch(/^step(?:,reserve,step){4,}/)
    expect(sizes[1]).toBeGreaterThan(2 * BATCH_BYTES)
    expect(sizes.slice(0, 5)).toEqual(sizes.slice(0, 5).sort((one, other) => one - other))
  })

  test('documents of any size are read in the order of their ids', async () => {
    const store = await engine.open()
    await storeDatabases(store, 'db')
    const repository = createDocumentRepository(store)
    for (const document of all) await repository.insert(where, [document])
    const found: (string | undefined)[] = []
    const ids = ['none', ...all.map(({ id }) => id), 'a\0']
    for await (const each of repository.readEach(where, ids)) found.push(each?.body)
    expect(found).toEqual([undefined, ...all.map(({ body }) => body), undefined])
  })
})
