import { expect, test } from 'vitest'
import { createKeyedLock } from './keyed-lock.ts'

test('tasks with one key run one after another, also after a failed one', async () => {
  const withLock = createKeyedLock()
  const events: string[] = []
  const run = (name: string) =>
    withLock('key', async () => {
      events.push(`${name} begins`)
      await new Promise(setImmediate)
      events.push(`${name} ends`)
      if (name === 'a') throw new Error('failed')
      return name
    })
  const settled = await Promise.allSettled(['a', 'b', 'c'].map(run))
  expect(settled).toMatchObject([{ reason: { message: 'failed' } }, { value: 'b' }, { value: 'c' }])
  expect(events).toEqual(['a begins', 'a ends', 'b begins', 'b ends', 'c begins', 'c ends'])
})

test('tasks with different keys run concurrently', async () => {
  const withLock = createKeyedLock()
  const { promise, resolve } = Promise.withResolvers<void>()
  const first = withLock('a', () => promise)
  expect(await withLock('b', async () => 'done')).toBe('done')
  resolve()
  await first
})
