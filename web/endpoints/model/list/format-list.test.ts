import { expect, test } from 'vitest'
import { formatList } from './format-list.ts'

test('names the first of many', () => {
  expect(formatList([])).toBe('')
  expect(formatList(['a'])).toBe('a')
  expect(formatList(['a', 'b', 'c', 'd'])).toBe('a, b, c and d')
  expect(formatList(['a', 'b', 'c', 'd', 'e'], 'or')).toBe('a, b, c or 2 more')
})
