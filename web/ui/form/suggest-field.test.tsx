import { expect, test } from 'vitest'
import { matchSuggestions } from './suggest-field.tsx'

const fields = ['id', 'order.status', 'status.code', 'Status', 'status', 'title']

test.each([
  ['', fields],
  ['stat', ['status.code', 'Status', 'status', 'order.status']],
  ['status', ['status', 'Status', 'status.code', 'order.status']],
  [' TITLE ', ['title']],
  ['author', []],
])('%j suggests %j', (typed, expected) => {
  expect(matchSuggestions(fields, typed)).toEqual(expected)
})
