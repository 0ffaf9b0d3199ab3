import { expect, test, vi } from 'vitest'
import { DocumentLocks } from './document-locks.ts'

const REF = { database: 'a', collection: 'b', id: 'c' }
const forever = () => new AbortController().signal

test('changes of one document run one after another, and a failed one does not stop the others', async () => {
  const locks = new DocumentLocks()
  const events: string[] = []
  const change = (name: string) =>
    locks.run(REF, forever, async (hasWaited) => {
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
  const first = locks.run(REF, forever, () => promise)
  expect(await locks.run(other, forever, async (hasWaited) => hasWaited)).toBe(false)
  resolve()
  await first
})

test('a change fails if others take too long', async () => {
  const locks = new DocumentLocks(1)
  const { promise, resolve } = Promise.withResolvers<void>()
  const first = locks.run(REF, forever, () => promise)
  await expect(locks.run(REF, forever, async () => {})).rejects.toMatchObject({
    code: 'busy',
    message: expect.stringContaining('"c"'),
  })
  resolve()
  await first
  expect(await locks.run(REF, forever, async (hasWaited) => hasWaited)).toBe(false)
})

test('a change whose client disconnects while it waits is not made', async () => {
  const locks = new DocumentLocks()
  const { promise, resolve } = Promise.withResolvers<void>()
  const first = locks.run(REF, forever, () => promise)
  const client = new AbortController()
  const change = vi.fn(async () => {})
  const second = locks.run(REF, () => client.signal, change)
  client.abort()
  await expect(second).rejects.toMatchObject({ code: 'busy' })
  resolve()
  await first
  expect(change).not.toHaveBeenCalled()
})
