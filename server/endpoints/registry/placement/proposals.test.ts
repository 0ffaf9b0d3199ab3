import { expect, test } from 'vitest'
import { forEngine } from '../../../storage/test-support/each-engine.testing.ts'
import { propose, readProposals, sweepProposals } from './proposals.ts'

forEngine('postgres', (engine) => {
  test('a proposal is deleted once its node must have ended, without affecting endpoints', async () => {
    const store = await engine.open('tool')
    const actor = { name: 'github:1', by: 'token', address: null } as const
    const add = (endpoint: string) =>
      propose(store, { endpoint, databases: [], node: 'a', actor }, undefined)
    await add('tcp://192.0.2.1:1')
    await add('tcp://192.0.2.1:2')
    await store.db
      .insertInto('endpoints')
      .values({ address: 'tcp://192.0.2.1:3', databases: '[]', revision: 9 })
      .execute()
    await sweepProposals(store)
    expect(await readProposals(store)).toHaveLength(2)

    await store.db
      .updateTable('endpoints')
      .set({ proposed_at: 0 })
      .where('address', '!=', 'tcp://192.0.2.1:2')
      .execute()
    await sweepProposals(store)
    const remaining = await store.db
      .selectFrom('endpoints')
      .select('address')
      .orderBy('address')
      .execute()
    expect(remaining.map(({ address }) => address)).toEqual([
      'tcp://192.0.2.1:2',
      'tcp://192.0.2.1:3',
    ])
  })
})
