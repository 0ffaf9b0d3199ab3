import { expect, test } from 'vitest'
import { CHANGE_RETENTION } from '../../contract/endpoints/endpoint-change.ts'
import type { Store } from '../../storage/store.ts'
import { forEachEngine, forEngine } from '../../storage/test-support/each-engine.testing.ts'
import { createClaims } from './claims.ts'
import { storeChange } from './store-change.testing.ts'

const NOW = CHANGE_RETENTION + 1
const claimsOf = (store: Store) =>
  createClaims(
    store,
    () => NOW,
    async () => {},
  )

forEngine('postgres', (engine) => {
  test('nodes that claim at the same time claim different bulk changes', async () => {
    const store = await engine.open()
    const ids = ['a', 'b', 'c', 'd']
    for (const id of ids) await storeChange(store, { id })
    const claimed = await Promise.all(ids.map(() => claimsOf(store).claim()))
    expect(claimed.map((change) => change?.id).sort()).toEqual(ids)
    expect(await claimsOf(store).claim()).toBeUndefined()
  })
})

forEachEngine((engine) => {
  test('an expired bulk change is deleted in statements of at most 500 rows', async () => {
    const store = await engine.open()
    await storeChange(store, { id: 'a', state: 'done' })
    const outcomes = Array.from({ length: 1_001 }, (_, at) => ({
      ...{ change: 'a', at, state: 'unchanged' },
      ...{ before: null, revision: null, failure: null },
    }))
    await store.db.insertInto('endpoint_change_outcomes').values(outcomes).execute()
    const claims = claimsOf(store)
    const left = async () => {
      const hasMore = await claims.deleteExpired()
      const rows = await store.db.selectFrom('endpoint_change_outcomes').select('at').execute()
      return hasMore && rows.length
    }
    expect([await left(), await left(), await left(), await left()]).toEqual([501, 1, 0, false])
  })
})
