import { expect, test } from 'vitest'
import { DocumentLocks } from './document-locks.ts'

const REF = { database: 'a', collection: 'b', id: 'c' }

test('changes of one document run one after another, and a failed one does not stop the others', async () => {
  const locks = new DocumentLocks()
  const events: string[] = []
  const change = (name: string) =>
    locks.run(REF, async (hasWaited) => {
      events.push(`${name} begins, ${hasWaited ? 'after others' : 'at once'}`)
      await new Promise(setImmediate)
      events.push(`${name} ends`)
      if (name === 'two') throw new Error('wrong')
      return name
    })
  const settled = await Promise.allSettled(['one', 'two', 'three'].map(change))
  expect(settled).toMatchObject([
    { value: 'one' },
    { reason: { message: 'wrong' } },
    { value: 'three' },
  ])
  expect(events).toEqual([
    'one begins, at once',
    'one ends',
    'two begins, after others',
    'two ends',
    'three begins, after others',
    'three ends',
  ])
  await change('four')
  expect(events).toContain('four begins, at once')
})

test.each([
  { ...REF, id: 'd' },
  { ...REF, collection: 'd' },
  { ...REF, database: 'd' },
])('changes of other documents do not wait: %o', async (other) => {
  const locks = new DocumentLocks()
  const { promise, resolve } = Promise.withResolvers<void>()
  const first = locks.run(REF, () => promise)
  expect(await locks.run(other, async (hasWaited) => hasWaited)).toBe(false)
  resolve()
  await first
})

test('a change fails if others take too long', async () => {
  const locks = new DocumentLocks(1)
  const { promise, resolve } = Promise.withResolvers<void>()
  const first = locks.run(REF, () => promise)
  await expect(locks.run(REF, async () => {})).rejects.toMatchObject({
    code: 'busy',
    message: expect.stringContaining('"c"'),
  })
  resolve()
  await first
  expect(await locks.run(REF, async (hasWaited) => hasWaited)).toBe(false)
})
