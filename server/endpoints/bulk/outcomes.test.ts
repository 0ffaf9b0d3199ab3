import { AsyncLocalStorage } from 'node:async_hooks'
import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { ensureOperator } from '../../access/people.ts'
import type { Store } from '../../storage/store.ts'
import { forEngine } from '../../storage/test-support/each-engine.testing.ts'
import { fence } from './outcomes.ts'

const part = { change: 'c', at: 0, claim: 'this node' }

/** Stores a bulk change that this node has claimed. */
async function storeChange(store: Store): Promise<void> {
  await store.db
    .insertInto('endpoint_changes')
    .values({
      id: part.change,
      state: 'running',
      actor: '{}',
      person: await ensureOperator(store, 0),
      token: null,
      via: '',
      keep_on_failure: 0,
      changes: '[]',
      total: 1,
      removals: 0,
      made: 0,
      unchanged: 0,
      failed: 0,
      undo_of: null,
      undone_by: null,
      claimed_by: part.claim,
      claimed_until: 0,
      created_at: 0,
      ended_at: null,
    })
    .execute()
}

forEngine('sqlite', (engine) => {
  test('a fence writes nothing, because the row contains all changes', async () => {
    const store = await engine.open()
    await storeChange(store)
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
    await storeChange(store)
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
