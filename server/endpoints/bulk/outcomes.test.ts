import { AsyncLocalStorage } from 'node:async_hooks'
import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { forEngine } from '../../storage/test-support/each-engine.testing.ts'
import { fence } from './outcomes.ts'
import { storeChange } from './store-change.testing.ts'

const part = { change: 'c', at: 0, claim: 'this node' }

forEngine('sqlite', (engine) => {
  test('a fence writes nothing, because the row contains all changes', async () => {
    const store = await engine.open()
    await storeChange(store, { id: part.change, claimed_by: part.claim })
    await store.change(async (trx) => {
      const written = async () => (await sql`select total_changes() as rows`.execute(trx)).rows
      const before = await written()
      expect(await fence(trx, store.engine, [part])).toEqual(new Set())
      expect(await fence(trx, store.engine, [{ ...part, claim: 'other' }])).toEqual(new Set(['c']))
      expect(await written()).toEqual(before)
    })
  })
})

forEngine('postgres', (engine) => {
  test('a fence locks the row until the transaction ends', async () => {
    const store = await engine.open()
    await storeChange(store, { id: part.change, claimed_by: part.claim })
    const unlocked = () =>
      store.db.selectFrom('endpoint_changes').select('id').forNoKeyUpdate().skipLocked().execute()
    const outside = AsyncLocalStorage.snapshot()
    await store.change(async (trx) => {
      expect(await fence(trx, store.engine, [part])).toEqual(new Set())
      expect(await outside(unlocked)).toEqual([])
    })
    expect(await unlocked()).toEqual([{ id: 'c' }])
  })
})
