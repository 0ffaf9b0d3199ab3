import { expect, test } from 'vitest'
import { applyKey } from './global-search.tsx'

test.each([
  ['order', 's', 'orders'],
  ['all', ' ', 'all '],
  ['a😀', 'Backspace', 'a'],
  ['', 'Backspace', ''],
  ['orders', 'Enter', 'orders'],
])('%j and the key %j become %j', (text, key, expected) => {
  expect(applyKey(text, key)).toBe(expected)
})
