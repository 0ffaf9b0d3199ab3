import { expect, test } from 'vitest'
import { formatList } from './format-list.ts'

test.each([
  [[], ''],
  [['a'], 'a'],
  [['a', 'b'], 'a and b'],
  [['a', 'b', 'c', 'd', 'e'], 'a, b, c, d and e'],
])('%j is formatted as %j', (names, text) => {
  expect(formatList(names)).toBe(text)
})

test('names after the maximum are counted if there are several', () => {
  const options = { conjunction: 'or', max: 3 } as const
  expect(formatList(['a', 'b', 'c', 'd'], options)).toBe('a, b, c or d')
  expect(formatList(['a', 'b', 'c', 'd', 'e'], options)).toBe('a, b, c or 2 more')
})
