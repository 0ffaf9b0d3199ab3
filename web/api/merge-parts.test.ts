import { expect, test } from 'vitest'
import { mergeParts } from './merge-parts.ts'

const part = (endpoint: string, node = 'a', state = 'old') => ({ endpoint, node, state })

test('refetched parts replace the previous ones and keep the others', () => {
  const list = [part('a'), part('b'), part('b', 'n2'), part('c')]
  const merged = mergeParts(list, ['b', 'd'], [part('b', 'a', 'new'), part('d')])
  expect(merged).toEqual([part('a'), part('b', 'a', 'new'), part('c'), part('d')])
  expect(merged[0]).toBe(list[0])
})

test('parts of missing names are removed', () => {
  expect(mergeParts([part('a'), part('b')], ['a', 'x'], [])).toEqual([part('b')])
})
