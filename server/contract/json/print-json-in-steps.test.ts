import * as fc from 'fast-check'
import { expect, test, vi } from 'vitest'
import { runSteps } from '../run-steps.ts'
import type { Json } from './json.ts'
import { printJsonInSteps } from './print-json-in-steps.ts'

test('prints any value like JSON.stringify, for pieces of any size', () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 5 }), fc.integer({ min: 1, max: 10 }), (value, size) => {
      expect(runSteps(printJsonInSteps(value as Json, size))).toBe(JSON.stringify(value))
    }),
    { numRuns: 1_000 },
  )
})

test('prints the key __proto__ like any other', () => {
  const value = JSON.parse('{"a":1,"__proto__":[1,{"__proto__":2}]}')
  expect(runSteps(printJsonInSteps(value, 1))).toBe(JSON.stringify(value))
})

test.each([
  [
    'an object with many keys',
    Object.fromEntries(Array.from({ length: 30_000 }, (_, n) => [`k${n}`, n])),
  ],
  ['many objects', Array.from({ length: 30_000 }, (_, n) => ({ n }))],
  [
    'large structures in large structures',
    { a: [Array(30_000).fill(0), [Array(30_000).fill({})]] },
  ],
])('prints %s in short steps', (_what, value) => {
  const stringify = vi.spyOn(JSON, 'stringify')
  try {
    const steps = printJsonInSteps(value)
    let length = 0
    for (let step = steps.next(); !step.done; step = steps.next()) {
      const printed = stringify.mock.results.map(({ value: text }) => String(text).length)
      length = Math.max(
        length,
        printed.reduce((sum, each) => sum + each, 0),
      )
      stringify.mockClear()
    }
    expect(length).toBeGreaterThan(0)
    expect(length).toBeLessThan(128 * 1024)
  } finally {
    stringify.mockRestore()
  }
})
