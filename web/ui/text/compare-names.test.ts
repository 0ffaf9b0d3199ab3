import { expect, test } from 'vitest'
import { compareNames } from './compare-names.ts'

test('sorts names in natural order and ignores their case', () => {
  const names = ['c10', 'b', 'C2', 'c1', '_system', 'shop-100', 'shop-20']
  const sorted = ['_system', 'b', 'c1', 'C2', 'c10', 'shop-20', 'shop-100']
  expect(names.toSorted(compareNames)).toEqual(sorted)
})

test.each([
  ['c1', 'c01'],
  ['a', 'A'],
])('%s and %s have a fixed order', (a, b) => {
  expect(compareNames(a, b)).not.toBe(0)
  expect(Math.sign(compareNames(a, b))).toBe(-Math.sign(compareNames(b, a)))
})
