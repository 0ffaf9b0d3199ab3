import { expect, test } from 'vitest'
import { mergeParts } from './merge-parts.ts'

const part = (endpoint: string, node = 'a', state = 'old') => ({ endpoint, node, state })

test('what was read anew stands in the place of what was there; the rest is untouched', () => {
  const list = [part('a'), part('b'), part('b', 'n2'), part('c')]
  const merged = mergeParts(list, ['b', 'd'], [part('b', 'a', 'new'), part('d')])
  expect(merged).toEqual([part('a'), part('b', 'a', 'new'), part('c'), part('d')])
  expect(merged[0]).toBe(list[0])
})

test('names that are not there any more go', () => {
  expect(mergeParts([part('a'), part('b')], ['a', 'x'], [])).toEqual([part('b')])
})
