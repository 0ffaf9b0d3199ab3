import { expect, test } from 'vitest'
import { mergeEntries } from './merge-entries.ts'

const entry = (endpoint: string, node = 'a', state = 'old') => ({ endpoint, node, state })

test('refetched entries replace the previous ones and keep the others', () => {
  const list = [entry('a'), entry('b'), entry('b', 'n2'), entry('c')]
  const merged = mergeEntries(list, ['b', 'd'], [entry('b', 'a', 'new'), entry('d')])
  expect(merged).toEqual([entry('a'), entry('b', 'a', 'new'), entry('c'), entry('d')])
  expect(merged[0]).toBe(list[0])
})

test('entries of missing names are removed', () => {
  expect(mergeEntries([entry('a'), entry('b')], ['a', 'x'], [])).toEqual([entry('b')])
})
