import { expect, test } from 'vitest'
import { createRecorder } from '../audit/record.ts'
import { forEachEngine } from '../storage/test-support/each-engine.testing.ts'
import { expirePolicies, readPolicy, writePolicy } from './stored-policies.ts'

const record = createRecorder()
const address = 'tcp://127.0.0.1:8530'
const actor = { name: 'ada', by: 'command-line', address: null } as const

forEachEngine((engine) => {
  test('nodes that end a trial at the same time change the policy once', async () => {
    const store = await engine.open()
    const stores = [store, await engine.open('tool')]
    const write = (note: string, tryUntil?: number) =>
      writePolicy(store, record, { address, policy: { note }, actor, tryUntil })
    await write('before')
    await write('tried', 1_000)
    const before = await store.db.selectFrom('counters').selectAll().execute()
    expect(await expirePolicies(store, record, 999)).toEqual([])
    expect(await store.db.selectFrom('counters').selectAll().execute()).toEqual(before)
    const ended = await Promise.all(stores.map((each) => expirePolicies(each, record, 1_000)))
    expect(ended.flat()).toEqual([address])
    expect(await readPolicy(store.db, address)).toMatchObject({
      policy: { note: 'before' },
      trial: null,
    })
    const rows = await store.db.selectFrom('audit').select('actor').execute()
    expect(rows.map((row) => row.actor)).toEqual(['ada', 'ada', 'policy'])
  })
})
