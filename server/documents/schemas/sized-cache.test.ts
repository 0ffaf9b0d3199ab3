import { expect, it } from 'vitest'
import { SizedCache } from './sized-cache.ts'

it('keeps the most recently used entries within its limits', () => {
  const cache = new SizedCache<number>({ entries: 3, size: 10 })
  expect([cache.set('a', 1, 1), cache.set('b', 2, 1), cache.set('c', 3, 1)]).toEqual([[], [], []])
  expect(cache.get('a')).toBe(1)
  expect(cache.set('d', 4, 1)).toEqual(['b'])
  expect(cache.set('e', 5, 9)).toEqual(['c', 'a'])
  expect(cache.set('d', 6, 2)).toEqual(['e'])
  expect(cache.set('d', 7, 10)).toEqual([])
  expect([cache.get('d'), cache.get('e')]).toEqual([7, undefined])
})
