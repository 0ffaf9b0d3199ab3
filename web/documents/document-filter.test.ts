import { expect, test } from 'vitest'
import { parseFilter } from './document-filter.ts'

test('a filter is a field and a value', () => {
  expect(parseFilter('author=ada')).toEqual({ field: 'author', value: 'ada' })
  expect(parseFilter(' author = ada lovelace ')).toEqual({ field: 'author', value: 'ada lovelace' })
  expect(parseFilter('formula=a=b')).toEqual({ field: 'formula', value: 'a=b' })
  expect(parseFilter('title=')).toEqual({ field: 'title', value: '' })
})

test.each(['', 'ada', '=ada', ' = '])('%j is none, and a sentence says what is', (text) => {
  expect(parseFilter(text)).toEqual({ fault: expect.stringContaining('author=ada') })
})

test('what the server keeps for paging is no field', () => {
  expect(parseFilter('limit=3')).toEqual({ fault: expect.stringContaining('limit') })
})
