import { setImmediate as nextTurn } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { RATE_LIMIT_KEYS } from '../../rate-limit.ts'
import type { Store } from '../store.ts'
import { forEachEngine } from '../test-support/each-engine.testing.ts'
import { createFailureLimit, FAILURES, failureKey, PERIOD, STORE_BATCH } from './failure-limit.ts'

forEachEngine((engine) => {
  /** Creates the failure limit of a node, with a clock that the test sets. */
  const limitOf = (store: Store, clock = { now: 0 }) => ({
    // The timer may store at any time, also while a test prevents it.
    ...createFailureLimit(
      store,
      () => clock.now,
      () => {},
    ),
    clock,
  })
  const rejection = { code: 'too-many-requests', headers: { 'Retry-After': '300' } }
  const caught = (act: () => void): unknown => {
    try {
      act()
      return undefined
    } catch (error) {
      return error
    }
  }
  const countAll = (limit: { count(key: string): void }, key: string, times = FAILURES) => {
    for (let n = 0; n < times; n++) limit.count(key)
  }
  const rows = (store: Store) =>
    store.db.selectFrom('failures').selectAll().orderBy('key').execute()

  it('allows failures up to the limit, then rejects until the period ends', async () => {
    const store = await engine.open()
    const limit = limitOf(store)
    countAll(limit, 'a')
    expect(caught(() => limit.count('a'))).toMatchObject(rejection)
    limit.count('b')
    await limit.store()
    expect(caught(() => limit.count('a'))).toMatchObject(rejection)
    limit.clock.now = PERIOD
    limit.count('a')
    await limit.store()
    expect(await rows(store)).toEqual([{ key: 'a', count: 1, expires_at: 2 * PERIOD }])
  })

  it('begins a new period if the clock was set back, also after a restart', async () => {
    const store = await engine.open()
    const limit = limitOf(store, { now: 10 * PERIOD })
    countAll(limit, 'a')
    await limit.store()
    for (const each of [limit, limitOf(store)]) {
      each.clock.now = 0
      each.count('a')
      await each.store()
    }
    expect(await rows(store)).toEqual([{ key: 'a', count: 2, expires_at: PERIOD }])
  })

  it('stores counted failures in batches, and no rejected ones', async () => {
    const store = await engine.open()
    const limit = limitOf(store)
    countAll(limit, 'a')
    await limit.store()
    expect(await rows(store)).toMatchObject([{ key: 'a', count: FAILURES }])
    await store.db.deleteFrom('failures').execute()
    for (let n = 0; n < 100; n++) expect(caught(() => limit.count('a'))).toBeDefined()
    await limit.store()
    expect(await rows(store)).toEqual([])
  })

  it('counts failures of several nodes together', async () => {
    const clock = { now: 0 }
    const nodes = [
      limitOf(await engine.open('tool'), clock),
      limitOf(await engine.open('tool'), clock),
    ] as const
    for (let n = 0; n < FAILURES; n++) {
      const node = nodes[n % 2 ? 1 : 0]
      node.count('a')
      await node.store()
    }
    await nodes[0].store()
    // The second node counted the last failure. The first one reads it when it stores its next
    // failure.
    expect(caught(() => nodes[1].count('a'))).toMatchObject(rejection)
    nodes[0].count('a')
    await nodes[0].store()
    expect(caught(() => nodes[0].count('a'))).toMatchObject(rejection)
  })

  it('stores failures of many addresses in parts, and keeps a bounded number in memory', async () => {
    const store = await engine.open()
    const limit = limitOf(store)
    countAll(limit, 'first')
    for (let n = 0; n < RATE_LIMIT_KEYS; n++) limit.count(`key ${n}`)
    // Does not throw: the count was dropped when the maximum number of keys was exceeded.
    limit.count('first')
    await limit.store()
    expect(await rows(store)).toHaveLength(STORE_BATCH)
    await limit.store()
    expect(await rows(store)).toHaveLength(2 * STORE_BATCH)
    limit.clock.now = PERIOD
    limit.count('later')
    await limit.store()
    expect(await rows(store)).toHaveLength(1)
  })

  it('keeps unstored failures for the next attempt', async () => {
    const store = await engine.open()
    const limit = limitOf(store)
    limit.count('a')
    await store.db.schema.alterTable('failures').renameTo('elsewhere').execute()
    await expect(limit.store()).rejects.toThrow()
    await store.db.schema.alterTable('elsewhere').renameTo('failures').execute()
    limit.count('a')
    await limit.stop()
    expect(await rows(store)).toMatchObject([{ key: 'a', count: 2 }])
  })

  it('stores failures that are counted while a batch is written', async () => {
    const store = await engine.open()
    const limit = limitOf(store)
    limit.count('a')
    const writing = limit.store()
    await nextTurn()
    limit.count('a')
    await limit.store()
    expect(await rows(store)).toMatchObject([{ key: 'a', count: 2 }])
    await writing
  })
})

describe('failureKey', () => {
  it.each([
    ['192.0.2.7', 'token/192.0.2.7'],
    ['2001:db8:1:2:3:4:5:6', 'token/2001:db8:1:2::/64'],
    ['2001:DB8:0001:2::9', 'token/2001:db8:1:2::/64'],
    ['2001:db8::1', 'token/2001:db8:0:0::/64'],
    ['::1', 'token/0:0:0:0::/64'],
    [null, 'token/unix'],
  ])('of %s is %s', (address, key) => {
    expect(failureKey('token', address)).toBe(key)
  })
})
