import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { Failure } from '../../failure.ts'
import { sqliteError } from './unavailable.ts'
import { createWriteCheck } from './write-check.ts'

/** Returns an error of `node:sqlite` with this result code, as the store converts it. */
const sqlite = (errcode: number) =>
  sqliteError(Object.assign(new Error('on purpose'), { code: 'ERR_SQLITE_ERROR', errcode }))

const [busy, full] = [sqlite(5), sqlite(13)]

/**
 * Creates a check whose writes fail while `state.error` is set, and whose pauses end with `wait`.
 */
function open(isDiskFull?: () => Promise<boolean>) {
  const state = { error: undefined as unknown, writes: 0, changes: [] as (string | undefined)[] }
  let pauses: (() => void)[] = []
  const check = createWriteCheck({
    async write() {
      state.writes++
      if (state.error !== undefined) throw state.error
    },
    isDiskFull,
    changed: (readOnly) => state.changes.push(readOnly?.reason),
    wait: (_ms, signal) =>
      new Promise<void>((resolve, reject) => {
        signal.addEventListener('abort', () => reject(signal.reason))
        pauses.push(resolve)
      }),
  })
  return {
    check,
    state,
    async wait() {
      const ended = pauses
      pauses = []
      for (const end of ended) end()
      for (let turn = 0; turn < 3; turn++) await nextTurn()
    },
  }
}

test('a database counts as read-only from a failed write of the check until one succeeds', async () => {
  const { check, state, wait } = open()
  state.error = full
  check.reportFailure(full)
  await wait()
  expect(check.readOnly?.reason).toBe('the disk is full')
  const { since } = check.readOnly ?? {}
  await wait()
  await wait()
  // Reported once.
  expect(state.changes).toEqual(['the disk is full'])
  expect(check.readOnly?.since).toBe(since)
  // An error that does not predict other writes changes nothing.
  state.error = busy
  await wait()
  expect(check.readOnly).toBeDefined()
  state.error = undefined
  await wait()
  expect(check.readOnly).toBeUndefined()
  expect(state.changes).toEqual(['the disk is full', undefined])
  const { writes } = state
  await wait()
  await wait()
  expect(state.writes).toBe(writes)
  await check.stop()
})

test('a change that is too large for the disk does not make the database read-only', async () => {
  const { check, state, wait } = open(async () => false)
  for (let n = 0; n < 5; n++) check.reportFailure(full)
  await wait()
  expect(state).toMatchObject({ writes: 1, changes: [] })
  check.reportFailure(full)
  await wait()
  await wait()
  expect(state.writes).toBe(2)
  await check.stop()
})

test('a change that fails on a full disk makes the database read-only while the disk is full', async () => {
  let isFull = true
  const { check, state, wait } = open(async () => isFull)
  check.reportFailure(full)
  await wait()
  await wait()
  // The small writes of the check succeed.
  expect(state).toMatchObject({ error: undefined, changes: ['the disk is full'] })
  isFull = false
  await wait()
  expect(state.changes).toEqual(['the disk is full', undefined])
  expect(check.readOnly).toBeUndefined()
  await check.stop()
})

test('other failures do not trigger a check', async () => {
  const { check, state, wait } = open()
  check.reportFailure(busy)
  check.reportFailure(new Failure('conflict', 'there is one'))
  check.reportFailure(new Error('on purpose'))
  await wait()
  expect(state.writes).toBe(0)
  await check.stop()
})

test('a nearly full disk triggers a check before a change fails', async () => {
  let isFull = false
  const { check, state, wait } = open(async () => isFull)
  await wait()
  expect(state.writes).toBe(0)
  isFull = true
  state.error = full
  await wait()
  await wait()
  expect(check.readOnly?.reason).toBe('the disk is full')
  await check.stop()
})
