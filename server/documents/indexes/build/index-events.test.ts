import { expect, it } from 'vitest'
import { START } from '../../../audit/record.ts'
import { storeDatabases } from '../../../storage/test-support/databases.testing.ts'
import { forEachEngine } from '../../../storage/test-support/each-engine.testing.ts'
import { createIndexesModule } from '../module.ts'

forEachEngine((engine) => {
  it('publishes an event when an index is created, and another one when it is ready', async () => {
    const store = await engine.open()
    await storeDatabases(store, 'db')
    const errors: unknown[] = []
    let events = 0
    let hasLock = false
    await using indexes = createIndexesModule({
      // As if another node built the indexes at first.
      store: { ...store, acquireLock: async () => hasLock },
      record: async () => {},
      requireRole: () => (_, next) => next(),
      events: { publish: () => events++ },
      logError: () => (error) => errors.push(error),
      idOf: (database) => database,
    })
    const where = { database: 'db', collection: 'articles' }
    const on = { record: async () => {}, actor: START, target: 'db/articles/by-n' }
    await indexes.put(where, 'by-n', { fields: ['n'], unique: false }, on)
    await expect.poll(() => events).toBe(1)
    hasLock = true
    indexes.wake()
    await expect.poll(() => events).toBe(2)
    expect(await store.db.selectFrom('document_indexes').select('state').execute()).toEqual([
      { state: 'ready' },
    ])
    expect(errors).toEqual([])
  })
})
