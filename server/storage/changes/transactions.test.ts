import { setImmediate as nextTurn } from 'node:timers/promises'
import { beforeEach, expect, test } from 'vitest'
import type { Store } from '../store.ts'
import { forEachEngine } from '../test-support/each-engine.testing.ts'
import { nextRevision } from './begin-change.ts'

forEachEngine((engine) => {
  let store: Store
  const counters = () => store.db.selectFrom('counters').selectAll()

  beforeEach(async () => {
    store = await engine.open()
  })

  const outside: [string, () => Promise<unknown>][] = [
    ['query', () => counters().execute()],
    ['prepared query', () => store.prepare(counters().compile())()],
    ['prepared read', async () => store.prepareRead(counters().compile())()],
    ['transaction', () => store.transaction(async () => {})],
    ['change', () => store.change(nextRevision)],
  ]

  test.each(outside)('code inside a transaction cannot run a %s outside of it', async (_, run) => {
    const change = store.change(async (trx) => {
      await nextRevision(trx)
      await run()
    })
    await expect(change).rejects.toThrow('A query bypassed the open transaction')
    expect(await store.change(nextRevision)).toBe(1)
  })

  test('background work that a transaction starts may query after its end', async () => {
    const ended = Promise.withResolvers<void>()
    let background: Promise<unknown> | undefined
    await store.change(async (trx) => {
      await nextRevision(trx)
      background = ended.promise.then(() => counters().execute())
    })
    await nextTurn()
    ended.resolve()
    expect(await background).toEqual([{ name: 'revision', value: 1 }])
  })
})
