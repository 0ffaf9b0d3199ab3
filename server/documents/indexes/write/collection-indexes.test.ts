import { expect, it } from 'vitest'
import { forEachEngine } from '../../../storage/test-support/each-engine.testing.ts'
import { openIndexes } from './collection-indexes.ts'
import { expectEntriesOfDocuments } from './stored-entries.testing.ts'

const INDEXES = 16
const where = { database: 'd', collection: 'c' }

forEachEngine((engine) => {
  it('lets other requests run while it writes many entries', async () => {
    const store = await engine.open()
    const names = Array.from({ length: INDEXES }, (_, n) => `f${n}`)
    for (const [at, name] of names.entries()) {
      const unique = at % 2
      await store.db
        .insertInto('document_indexes')
        .values({
          ...where,
          id: at + 1,
          name,
          fields: JSON.stringify([name]),
          is_unique: unique,
          state: 'ready',
          cursor: null,
          done: 0,
          total: null,
          duplicates: null,
          created_at: 0,
        })
        .execute()
    }
    const documents = Array.from({ length: 200 }, (_, n) => {
      const id = String(n)
      const fields = Object.fromEntries(names.map((name) => [name, `${n}${'x'.repeat(1_000)}`]))
      return { id, body: JSON.stringify({ id, ...fields }) }
    })
    let turns = 0
    let next = setImmediate(function count() {
      turns++
      next = setImmediate(count)
    })
    /** Returns the number of turns of the event loop that the work takes. */
    const turnsOf = async (work: () => Promise<void>) => {
      const before = turns
      await work()
      return turns - before
    }
    await store.transaction(async (trx) => {
      for (const { id, body } of documents) {
        const row = { ...where, id, tag: id, body }
        await trx.insertInto('documents').values(row).execute()
      }
      const indexes = await openIndexes(trx, engine.name, where)
      expect(await turnsOf(async () => indexes?.add(documents))).toBeGreaterThan(20)
      expect(await turnsOf(async () => indexes?.remove(documents))).toBeGreaterThan(20)
      await indexes?.add(documents)
    }, 'long')
    clearImmediate(next)
    await expectEntriesOfDocuments(store)
  })
})
