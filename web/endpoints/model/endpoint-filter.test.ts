import { describe, expect, test } from 'vitest'
import {
  formatNoMatch,
  matchesFilter,
  parseFilter,
  withRule,
  withState,
} from './endpoint-filter.ts'
import { joinRows } from './endpoint-rows.ts'

const rows = joinRows(
  [
    { endpoint: 'tcp://127.0.0.1:8530', databases: ['blog', 'shop'] },
    { endpoint: 'tcp://127.0.0.1:8531', databases: [] },
    { endpoint: 'tcp://10.0.0.4:9000', databases: ['archive'] },
  ],
  [],
  new Map(),
  [
    {
      endpoint: 'tcp://127.0.0.1:8531',
      policy: { readOnly: true, maxConnections: 5, note: 'For Partner 9000' },
      revision: 1,
    },
  ],
)
const found = (text: string) =>
  rows
    .filter((row) => matchesFilter(parseFilter(text), row))
    .map(({ address }) => address.split(':').at(-1))

describe('the filter', () => {
  test.each([
    ['', ['9000', '8530', '8531']],
    ['  853 ', ['8530', '8531']],
    ['853 BLOG', ['8530']],
    ['db:shop', ['8530', '8531']],
    ['db:shop db:archive', ['8531']],
    ['db:Shop', ['8531']],
    ['state:unknown 9000', ['9000', '8531']],
    ['state:failed', []],
    ['state:failed state:UNKNOWN :9000', ['9000']],
    ['node:a', []],
    ['rule:read-only', ['8531']],
    ['RULE:connections rule:Read-Only 8531', ['8531']],
    ['rule:read-only rule:off', []],
    ['partner', ['8531']],
    ['state:', []],
  ])('"%s" matches %j', (text, ports) => {
    expect(found(text)).toEqual(ports)
  })
})

test('a count replaces the state of the filter and keeps the rest', () => {
  expect(withState('853 state:failed db:shop', 'draining')).toBe('state:draining 853 db:shop')
  expect(withState('state:failed 853', undefined)).toBe('853')
})

test('a chip adds its rule to the filter or removes it', () => {
  expect(withRule('853  state:failed', 'read-only')).toBe('853 state:failed rule:read-only')
  expect(withRule('853 rule:Read-Only db:shop', 'read-only')).toBe('853 db:shop')
})

test.each([
  ['853 state:failed', 128, 'No endpoint matches “853” in state Failed. 128 are hidden.'],
  ['state:opening', 1, 'No endpoint is in state Opening. 1 is hidden.'],
  ['db:shop', 2, 'No endpoint serves shop. 2 are hidden.'],
  ['rule:off', 2, 'No endpoint has the rule off. 2 are hidden.'],
  ['x db:shop node:a', 2, 'No endpoint matches “x” and serves shop and runs on a. 2 are hidden.'],
])('describes the empty result of "%s"', (text, hidden, sentence) => {
  expect(formatNoMatch(text, hidden)).toBe(sentence)
})
