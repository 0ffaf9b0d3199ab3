import { expect, test } from 'vitest'
import { countVisibleNames } from './scope-names.tsx'

test.each([
  { names: ['blog'], fit: 1 },
  { names: ['blog', 'shop', 'archive'], fit: 3 },
  { names: ['blog', 'shop', 'archive', 'metrics'], fit: 2 },
  { names: ['archive', 'tickets', 'metrics'], fit: 1 },
  { names: ['a-name-that-is-longer-than-the-line', 'shop'], fit: 1 },
  { names: ['a-name-that-is-longer-than-the-line'], fit: 1 },
  { names: Array.from({ length: 40 }, () => 'a'), fit: 7 },
])('$fit of $names fit in 17 characters', ({ names, fit }) => {
  expect(countVisibleNames(names, 17)).toBe(fit)
})
