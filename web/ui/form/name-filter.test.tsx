import { expect, it } from 'vitest'
import { filterByName } from './name-filter.tsx'

it('finds names that contain the text, ignoring case and outer spaces', () => {
  const rows = [{ name: 'blog' }, { name: 'Shop' }]
  expect(filterByName(rows, ' SH ')).toEqual([{ name: 'Shop' }])
  expect(filterByName(rows, ' ')).toBe(rows)
})
