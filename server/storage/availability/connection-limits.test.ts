import { sql } from 'kysely'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { Failure } from '../../failure.ts'
import { nextRevision } from '../changes/begin-change.ts'
import type { Store } from '../store.ts'
import { forEngine } from '../test-support/each-engine.testing.ts'
import { CONNECTION_WAIT, CONNECTIONS, ConnectionLimits, MAX_WAITING } from './connection-limits.ts'
import { HealthMonitor } from './health-monitor.ts'

describe('ConnectionLimits', () => {
  const probe = () => Promise.resolve({ available: true, idle: new Set<number>() } as const)
  let reach: HealthMonitor

  beforeEach(() => {
    reach = new HealthMonitor({ probe: probe, changed: () => {} })
  })
  afterEach(() => reach.stop())

  test('allocates connections in the order of requests', async () => {
    const limits = new ConnectionLimits(reach, { all: 1, writes: 1, long: 1 })
    const order: string[] = []
    const use = async (name: string) => {
      const release = await limits.connection('read')
      order.push(name)
      release()
    }
    const first = await limits.connection('read')
    const all = [use('a'), use('b'), use('c')]
    expect(limits.use).toEqual({ used: 1, waiting: 3 })
    first()
    await Promise.all(all)
    expect(order).toEqual(['a', 'b', 'c'])
    expect(limits.use).toEqual({ used: 0, waiting: 0 })
  })

  const ONE = { all: 1, writes: 1, long: 1 }
  const busy = (reason: string) => ({
    code: 'unavailable',
    message: 'The database is overloaded. Try again.',
    cause: { message: expect.stringContaining(reason) },
  })

  test('rejects requests that wait too long', async () => {
    const limits = new ConnectionLimits(reach, ONE, { statement: 1, long: 1 })
    const first = await limits.connection('write')
    for (const purpose of ['read', 'write'] as const) {
      await expect(limits.connection(purpose)).rejects.toMatchObject(busy('within 1 ms'))
    }
    first()
    expect(limits.use).toEqual({ used: 0, waiting: 0 })
  })

  test('rejects requests when too many wait', async () => {
    const limits = new ConnectionLimits(reach, ONE)
    const first = await limits.connection('write')
    const waiting = Array.from({ length: MAX_WAITING }, async () => {
      const release = await limits.connection('read')
      release()
    })
    await expect(limits.connection('read')).rejects.toMatchObject(busy('already waiting'))
    first()
    await Promise.all(waiting)
    expect(limits.use).toEqual({ used: 0, waiting: 0 })
  })

  test('rejects waiting requests when the database becomes unavailable', async () => {
    const away = { available: false, reason: 'gone' } as const
    const unavailable = new HealthMonitor({ probe: async () => away, changed: () => {} })
    const limits = new ConnectionLimits(unavailable, { all: 1, writes: 1, long: 1 })
    await limits.connection('read')
    const waits = limits.connection('read')
    unavailable.checkNow()
    await expect(waits).rejects.toThrow('The database is unavailable')
    expect(limits.use).toEqual({ used: 1, waiting: 0 })
    await unavailable.stop()
  })
})

forEngine('postgres', (engine) => {
  let store: Store
  let end: () => void
  let ended: Promise<void>
  const work: Promise<unknown>[] = []

  beforeEach(async () => {
    store = await engine.open()
    const held = Promise.withResolvers<void>()
    end = held.resolve
    ended = held.promise
    // Waiting for a connection ends after a few seconds, which a busy machine may take.
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  })
  afterEach(async () => {
    vi.useRealTimers()
    end()
    await Promise.all(work.splice(0))
  })

  /** Starts transactions that stay open until the end of the test. */
  const hold = (count: number, length?: 'long') => {
    for (let at = 0; at < count; at++) {
      work.push(
        store.transaction(async (trx) => {
          await sql`set local idle_in_transaction_session_timeout = 0`.execute(trx)
          await ended
        }, length),
      )
    }
  }
  const inUse = (used: number) => expect.poll(() => store.connections().used).toBe(used)
  const read = () => store.db.selectFrom('counters').selectAll().execute()
  const write = () => store.db.updateTable('counters').set({ value: 1 }).execute()

  test('long transactions leave half of the connections for others', async () => {
    hold(12, 'long')
    await inUse(CONNECTIONS.long)
    expect(await read()).toHaveLength(1)
    await write()
    expect(await store.transaction(async () => 'signed in')).toBe('signed in')
    expect(store.connections().waiting).toBe(12 - CONNECTIONS.long)
  })

  test('transactions and writes leave connections for reads', async () => {
    hold(12, 'long')
    await inUse(CONNECTIONS.long)
    hold(12)
    await inUse(CONNECTIONS.writes)
    const written = write()
    expect(await Promise.all([read(), read(), read()])).toHaveLength(3)
    expect(store.connections()).toEqual({ used: CONNECTIONS.writes, waiting: 7 + 9 + 1 })
    end()
    await written
    await inUse(0)
  })

  test('a transaction that gets no connection does not wait for one to roll back', async () => {
    hold(CONNECTIONS.writes)
    await inUse(CONNECTIONS.writes)
    const rejected = expect(store.change(nextRevision)).rejects.toThrow('overloaded')
    await expect.poll(() => store.connections().waiting).toBe(1)
    vi.advanceTimersByTime(CONNECTION_WAIT.statement)
    await rejected
  })

  test('a failed transaction releases its connection', async () => {
    const fail = () =>
      store.transaction(async () => {
        throw new Failure('conflict', 'on purpose')
      }, 'long')
    for (let at = 0; at < 12; at++) await expect(fail()).rejects.toThrow('on purpose')
    expect(store.connections()).toEqual({ used: 0, waiting: 0 })
  })
})
