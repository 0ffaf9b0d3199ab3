import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { AuditEntry } from '../contract/audit.ts'
import { Failure } from '../failure.ts'
import {
  createFailedSignIns,
  FAILED_SIGN_IN_PERIOD,
  FAILED_SIGN_IN_ROWS,
  FAILED_SIGN_IN_ROWS_PER_ADDRESS,
} from './failed-sign-ins.ts'

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
})

function setUp() {
  const rows: AuditEntry[] = []
  const onRecorded = vi.fn()
  const failed = createFailedSignIns({
    record: async (entry) => {
      rows.push(entry)
    },
    now: Date.now,
    onRecorded,
    onError: (error) => {
      throw error
    },
  })
  const fail = (address: string | null, failure = new Failure('forbidden', 'wrong key')) =>
    failed.record({ provider: 'local', address, failure })
  return { rows, failed, fail, onRecorded }
}

test('a failed sign-in is recorded with provider, address, code and reason', async () => {
  const { rows, fail, failed, onRecorded } = setUp()
  await fail('10.0.0.1')
  expect(rows).toEqual([
    {
      actor: { name: 'anonymous', by: 'system', address: '10.0.0.1' },
      action: 'session.fail',
      target: 'local',
      outcome: 'refused',
      before: null,
      after: { refused: 'forbidden', reason: 'wrong key' },
    },
  ])
  expect(onRecorded).toHaveBeenCalledOnce()
  const removed = new Failure('forbidden', 'Your access was removed.')
  await failed.record({ provider: 'oidc', address: null, failure: removed, username: 'oidc:ada' })
  expect(rows[1]?.actor.name).toBe('oidc:ada')
})

test('errors of providers and of the database are not recorded', async () => {
  const { rows, fail } = setUp()
  await fail('10.0.0.1', new Failure('internal', 'Example reported an error: Call 555'))
  await fail('10.0.0.1', new Failure('unavailable', 'The database is unavailable.'))
  expect(rows.map(({ after }) => after)).toEqual([
    { refused: 'internal', reason: 'The provider reported an error.' },
  ])
})

test('one address causes few rows per period, and one that counts the rest', async () => {
  const { rows, fail } = setUp()
  for (let each = 0; each < 1_000; each++) await fail('2001:db8::1')
  await fail('2001:db8::ffff')
  expect(rows).toHaveLength(FAILED_SIGN_IN_ROWS_PER_ADDRESS)
  await vi.advanceTimersByTimeAsync(FAILED_SIGN_IN_PERIOD)
  expect(rows.slice(FAILED_SIGN_IN_ROWS_PER_ADDRESS)).toMatchObject([
    {
      target: 'further failed sign-ins',
      after: { failures: 1_001 - FAILED_SIGN_IN_ROWS_PER_ADDRESS, addresses: 1 },
    },
  ])
  await vi.advanceTimersByTimeAsync(10 * FAILED_SIGN_IN_PERIOD)
  expect(rows).toHaveLength(FAILED_SIGN_IN_ROWS_PER_ADDRESS + 1)
})

test('many addresses cause no more than the rows of a node', async () => {
  const { rows, fail } = setUp()
  for (let each = 0; each < 5_000; each++) await fail(`10.0.${each >> 8}.${each & 255}`)
  expect(rows).toHaveLength(FAILED_SIGN_IN_ROWS)
  await vi.advanceTimersByTimeAsync(FAILED_SIGN_IN_PERIOD)
  expect(rows).toHaveLength(FAILED_SIGN_IN_ROWS + 1)
  expect(rows.at(-1)?.after).toEqual({ failures: 5_000 - FAILED_SIGN_IN_ROWS, addresses: 1_000 })
})

test('the row that counts the rest is written when the server stops', async () => {
  const { rows, fail, failed } = setUp()
  for (let each = 0; each < 8; each++) await fail('10.0.0.1')
  await failed[Symbol.asyncDispose]()
  expect(rows.slice(FAILED_SIGN_IN_ROWS_PER_ADDRESS)).toMatchObject([
    { after: { failures: 8 - FAILED_SIGN_IN_ROWS_PER_ADDRESS, addresses: 1 } },
  ])
  await vi.advanceTimersByTimeAsync(10 * FAILED_SIGN_IN_PERIOD)
  expect(rows).toHaveLength(FAILED_SIGN_IN_ROWS_PER_ADDRESS + 1)
})
