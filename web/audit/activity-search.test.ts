import { expect, test } from 'vitest'
import { nounLabels } from './action-labels.ts'
import { isFiltered, nouns, readActivitySearch, toAuditQuery } from './activity-search.ts'

test('valid parameters of the URL are kept and invalid ones dropped', () => {
  const search = {
    who: 'local:',
    what: 'endpoint',
    from: '2026-01-31',
    to: '2026-02-01',
    open: '7',
  }
  expect(readActivitySearch({ ...search, more: 'x' })).toEqual(search)
  expect(
    readActivitySearch({ who: '', what: 'nothing', from: '31.1.', to: '2026-99-99', open: 'x' }),
  ).toEqual({})
})

test('a day is queried from its start to its end', () => {
  const { from = '', to = '' } = toAuditQuery({ from: '2026-01-31', to: '2026-01-31' })
  expect(new Date(from).toString()).toContain('Jan 31 2026 00:00:00')
  expect(new Date(to).toString()).toContain('Feb 01 2026 00:00:00')
})

test.each(['abc', '2026-02-31', '0202-01-01', ''])('%j is no day', (day) => {
  expect(readActivitySearch({ from: day, to: day })).toEqual({})
})

test('the last day that a date field accepts sets no end', () => {
  expect(toAuditQuery({ to: '9999-12-31' })).toEqual({})
  expect(toAuditQuery({ from: '9999-12-31' }).from).toMatch(/^9999-12-3/)
})

test('whitespace around a name is not part of the query', () => {
  expect(toAuditQuery({ who: ' ada ' })).toEqual({ who: 'ada' })
  expect(toAuditQuery({ who: ' ' })).toEqual({})
})

test('an open row does not filter', () => {
  expect(isFiltered({ open: '7' })).toBe(false)
  expect(isFiltered({ who: 'a' })).toBe(true)
})

test('each group of actions has a label', () => {
  expect(Object.keys(nounLabels).toSorted()).toEqual(nouns.toSorted())
})
