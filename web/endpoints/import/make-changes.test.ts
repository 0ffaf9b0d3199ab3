import { expect, test } from 'vitest'
import type { ImportChange } from './import-plan.ts'
import { type MakeChangesOptions, makeChanges } from './make-changes.ts'

const change = (kind: ImportChange['kind'], address: string): ImportChange => ({
  kind,
  address,
  before: null,
  after: null,
  revision: undefined,
})
const many = (length: number) => Array.from({ length }, (_, index) => change('added', `a${index}`))

/** Runs with a server that refuses what is named; tells in which order all was asked and settled. */
async function run(
  groups: ImportChange[][],
  options: Partial<MakeChangesOptions> & { refused?: string[] } = {},
) {
  const { refused = [], ...more } = options
  const asked: string[] = []
  const settled: string[] = []
  let under = 0
  let most = 0
  const end = await makeChanges({
    groups,
    send: async ({ address }) => {
      asked.push(address)
      under += 1
      most = Math.max(most, under)
      await new Promise((resolve) => setImmediate(resolve))
      under -= 1
      if (refused.includes(address)) throw new Error('refused')
    },
    interrupts: () => false,
    settled: ({ address }, error) => settled.push(error === undefined ? address : `${address} no`),
    stop: new AbortController().signal,
    width: 3,
    removeAnyway: false,
    ...more,
  })
  return { end, asked, settled, most }
}

test('makes so many at once, and a group only after the one before', async () => {
  const { end, settled, most } = await run([many(7), [change('removed', 'b')]])
  expect(end).toEqual({ by: 'all' })
  expect(most).toBe(3)
  expect(settled).toHaveLength(8)
  expect(settled.at(-1)).toBe('b')
})

test('removes nothing once something has failed, unless that is asked for', async () => {
  const groups = [many(2), [change('changed', 'b')], [change('removed', 'c')]]
  expect(await run(groups, { refused: ['a0'] })).toMatchObject({
    asked: ['a0', 'a1', 'b'],
    settled: ['a0 no', 'a1', 'b'],
  })
  expect(await run(groups, { refused: ['a0'], removeAnyway: true })).toMatchObject({
    settled: ['a0 no', 'a1', 'b', 'c'],
  })
})

test('begins no other once it is stopped, and waits for those under way', async () => {
  const stop = new AbortController()
  const settled: string[] = []
  const { end, asked } = await run([many(9), many(1)], {
    stop: stop.signal,
    settled: ({ address }) => {
      settled.push(address)
      stop.abort()
    },
  })
  expect(end).toEqual({ by: 'stop' })
  expect(asked).toEqual(['a0', 'a1', 'a2'])
  expect(settled).toEqual(asked)
})

test('ends where trying on makes no sense, and reports nothing as failed for that', async () => {
  const { end, asked, settled } = await run([many(9), many(1)], {
    refused: ['a1'],
    interrupts: ({ message }) => message === 'refused',
  })
  expect(end).toMatchObject({ by: 'interruption', error: { message: 'refused' } })
  expect(asked.length).toBeLessThan(9)
  expect(settled.some((line) => line.endsWith(' no'))).toBe(false)
})
