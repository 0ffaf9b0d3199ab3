import { expect, test } from 'vitest'
import { countFitting } from './database-chips.tsx'

test.each([
  [['a', 'b', 'c', 'd'], 3, 3],
  [['tenant-001', 'tenant-002', 'tenant-003', 'tenant-004'], 3, 1],
  [['blog', 'shop', 'wiki', 'news'], 3, 3],
  [['articles', 'products', 'wiki'], 3, 2],
  [['x'.repeat(64), 'a'], 1, 1],
  [['a'], 3, 1],
  [Array.from({ length: 100 }, () => 'tenant-001'), Number.POSITIVE_INFINITY, 100],
])('of %j, with room for %d, %d fit', (names, room, count) => {
  expect(countFitting(names, room)).toBe(count)
})
