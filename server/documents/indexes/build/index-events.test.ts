import { beforeEach, expect, it } from 'vitest'
import { START } from '../../../audit/record.ts'
import type { Store } from '../../../storage/store.ts'
import { storeDatabases } from '../../../storage/test-support/databases.testing.ts'
import { forEachEngine } from '../../../storage/test-support/each-engine.testing.ts'
import { createIndexesModule } from '../module.ts'

const where = { database: 'db', collection: 'articles' }
const on = { record: async () => {}, actor: START, target: 'db/articles/by-n' }

forEachEngine((engine) => {
  let store: Store
  let errors: unknown[]
  let events: number

  beforeEach(async () => {
    store = await engine.open()
    await storeDatabases(store, 'db')
    errors = []
    events = 0
  })

  const openIndexes = (acquireLock: Store['acquireLock'] = async () => true) =>
    createIndexesModule({
      store: { ...store, acquireLock },
      record: async () => {},
      requireRole: () => (_, next) => next(),
      events: { publish: () => events++ },
      logError: () => (error) => errors.push(error),
      idOf: (database) => database,
    })
  const states = async () =>
    (await store.db.selectFrom('document_indexes').select('state').execute()).map(
      ({ state }) => state,
    )

  it('publishes an event when an index is created, and another one when it is ready', async () => {
    // As if another node built the indexes at first.
    let hasLock = false
    await using indexes = openIndexes(async () => hasLock)
    await indexes.put(where, 'by-n', { fields: ['n'], unique: false }, on)
    await expect.poll(() => events).toBe(1)
    hasLock = true
    indexes.wake()
    await expect.poll(() => events).toBe(2)
    expect(await states()).toEqual(['ready'])
    expect(errors).toEqual([])
  })
})
