import { expect, test } from 'vitest'
import { parseFilter } from './document-filter.ts'

test.each([
  ['author=ada', [['author', 'ada']]],
  [' author = ada lovelace ', [['author', 'ada lovelace']]],
  ['a=b=c', [['a', 'b=c']]],
  ['title=', [['title', '']]],
  [
    'author=ada & pages=7',
    [
      ['author', 'ada'],
      ['pages', '7'],
    ],
  ],
  ['title=black %26 white', [['title', 'black & white']]],
  ['year:gte=2000', [['year:gte', '2000']]],
  ['limit=3', [['limit:eq', '3']]],
])('%j filters by fields and values', (text, fields) => {
  expect(parseFilter(text)).toEqual({ fields })
})

test.each(['ada', '=ada', '', 'a=1&'])('%j is rejected', (text) => {
  expect(parseFilter(text)).toHaveProperty('error')
})
