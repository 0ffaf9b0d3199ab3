import { beforeEach, expect, test, vi } from 'vitest'
import { TIME_SLICE } from '../../concurrency/time-slice.ts'
import { validateChanges } from './routes.ts'
import { parseChanges, printChanges } from './stored-changes.ts'

const CHANGES = Array.from({ length: 20 }, (_, n) => ({
  endpoint: `tcp://127.0.0.1:${1_000 + n}`,
  databases: ['a', 'b'],
}))
const nextTurn = vi.fn(async () => {})

beforeEach(() => {
  nextTurn.mockClear()
  // Each change takes a whole slice.
  let now = 0
  vi.spyOn(performance, 'now').mockImplementation(() => {
    now += TIME_SLICE
    return now
  })
  return () => vi.restoreAllMocks()
})

test('the changes of a request are validated in slices', async () => {
  expect(await validateChanges(CHANGES, nextTurn)).toEqual(CHANGES)
  expect(nextTurn).toHaveBeenCalledTimes(CHANGES.length)
})

test('an invalid change is named with its path', async () => {
  const invalid = [...CHANGES, { endpoint: 'x', databases: [], expect: -1 }]
  await expect(validateChanges(invalid, nextTurn)).rejects.toMatchObject({
    message: expect.stringContaining('changes[20].expect'),
    details: { field: '/changes/20/expect' },
  })
})

test('the changes are stored and read in slices', async () => {
  const text = await printChanges(CHANGES, nextTurn)
  expect(text).toBe(JSON.stringify(CHANGES))
  expect(nextTurn).toHaveBeenCalledTimes(CHANGES.length)
  nextTurn.mockClear()
  expect(await parseChanges(text, nextTurn)).toEqual(CHANGES)
  expect(nextTurn.mock.calls.length).toBeGreaterThanOrEqual(CHANGES.length)
})
