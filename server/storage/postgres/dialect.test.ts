import { Kysely, sql } from 'kysely'
import { expect, test, vi } from 'vitest'
import { SHARE } from '../../concurrency/turn-share.ts'
import type { GuardedPool } from './connections/guarded-pool.ts'
import { createPostgresDialect } from './dialect.ts'

test.each([
  { scope: 'outside of transactions, in several turns', isTransaction: false, expected: 3 },
  { scope: 'in transactions, at once', isTransaction: true, expected: 1 },
])('callers use results that arrive together: $scope', async ({ isTransaction, expected }) => {
  const arrival = Promise.withResolvers<void>()
  const query = async () => {
    await arrival.promise
    return [{ command: 'SELECT', rows: [{ n: 1 }] }]
  }
  const client = { query, begin() {}, commit: async () => {}, release() {} }
  const pool = { connect: () => client } as unknown as GuardedPool
  const db = new Kysely<unknown>({ dialect: createPostgresDialect(pool) })
  let [time, turn] = [0, 0]
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => time)
  let counting = setImmediate(function count() {
    turn++
    counting = setImmediate(count)
  })
  const turns = new Set<number>()
  const use = async (executor: Kysely<unknown>) => {
    const { rows } = await sql`select 1 as n`.execute(executor)
    time += SHARE
    turns.add(turn)
    return rows
  }
  try {
    const used = Array.from({ length: 3 }, () =>
      isTransaction ? db.transaction().execute(use) : use(db),
    )
    await new Promise(setImmediate)
    arrival.resolve()
    expect(await Promise.all(used)).toEqual(Array(3).fill([{ n: 1 }]))
  } finally {
    clearImmediate(counting)
    clock.mockRestore()
  }
  expect(turns.size).toBe(expected)
})
