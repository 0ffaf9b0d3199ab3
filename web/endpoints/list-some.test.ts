import { expect, test } from 'vitest'
import { listSome } from './list-some.ts'

test('names some of many', () => {
  expect(listSome([])).toBe('')
  expect(listSome(['a'])).toBe('a')
  expect(listSome(['a', 'b', 'c', 'd'])).toBe('a, b, c and d')
  expect(listSome(['a', 'b', 'c', 'd', 'e'], 'or')).toBe('a, b, c or 2 more')
})
