import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { printFieldPath, splitValues } from '../../../server/contract/query/field-path.ts'
import {
  conditionsOf,
  describeCondition,
  formatFilter,
  OPERATOR_WORDS,
  type Operator,
  parseFilter,
  parseValues,
  partsOf,
  printValues,
  toCondition,
} from './conditions.ts'

test.each([
  ['', []],
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
  ['done=100%', [['done', '100%']]],
  ['year:gte=2000', [['year:gte', '2000']]],
  ['limit=3', [['limit:eq', '3']]],
])('%j filters by fields and values', (text, conditions) => {
  expect(parseFilter(text)).toEqual({
    conditions: conditions.map(([name, value]) => ({ name, value })),
  })
})

test.each(['ada', '=ada', 'a=1&'])('%j is not a filter', (text) => {
  expect(parseFilter(text)).toHaveProperty('error')
})

test('Conditions survive being formatted as text', () => {
  const part = fc.oneof(fc.string(), fc.stringMatching(/^[ %&=025A6D\t\v\f\u00a0\ufeff]{0,6}$/))
  const field = part.filter((name) => name !== '').map((name) => printFieldPath([name]))
  const condition = fc.tuple(field, part).map(([name, value]) => toCondition(name, 'eq', value))
  fc.assert(
    fc.property(fc.array(condition), (conditions) => {
      expect(parseFilter(formatFilter(conditions))).toEqual({ conditions })
    }),
  )
})

test.each([
  ['author=ada', 'author is ada'],
  ['author.name:ne=ada', 'author.name is not ada'],
  ['year:gte=2000', 'year is at least 2000'],
  ['tags:exists=false', 'tags does not exist'],
  ['tags:exists=true', 'tags exists'],
  ['title=', 'title is “”'],
  ['a\\:b:lt=1', 'a:b is less than 1'],
  ['author:in=ada, grace', 'author is one of “ada”, “ grace”'],
  ['author:in=a\\,b', 'author is one of “a,b”'],
  ['a\\.b=1', '"a.b" is 1'],
  ['year:above=2000', 'year:above=2000'],
])('%j is described as %j', (text, words) => {
  const parsed = parseFilter(text)
  expect(
    'conditions' in parsed && parsed.conditions.map((each) => describeCondition(each)),
  ).toEqual([words])
})

test.each([
  ['ada,grace', 'ada,grace'],
  [' ada , grace hopper ', 'ada,grace hopper'],
  ['ada,\\ grace\\ ', 'ada, grace '],
  ['a\\,b, c\\\\ ', 'a\\,b,c\\\\'],
  ['ada,', 'ada,'],
  ['C:\\x', 'C:\\x'],
])('The typed values %j are the value %j', (typed, value) => {
  expect(parseValues(typed)).toBe(value)
})

test('Values are the same after they were typed', () => {
  const part = fc.stringMatching(/^[ ,\\a\t]{0,6}$/)
  fc.assert(
    fc.property(fc.array(part, { minLength: 1 }), (values) => {
      const value = values.map((each) => each.replace(/[\\,]/g, '\\$&')).join(',')
      expect(splitValues(parseValues(printValues(value)))).toEqual(values)
    }),
  )
})

test.each([
  'limit',
  'export-as',
  'csv-separator',
  'csv-cells',
  'count',
  'page',
  'q',
  'select',
  'limt',
  'field',
  '_id',
])('A filter by the field %s has an operator', (field) => {
  expect(toCondition(field, 'eq', '5').name).toBe(`${field}:eq`)
  expect(conditionsOf(`${field}=5 & ${field}:ne=6`)).toEqual([
    { name: `${field}:eq`, value: '5' },
    { name: `${field}:ne`, value: '6' },
  ])
})

test('A filter that would have the form of another server has an operator', () => {
  expect(toCondition('views_gte', 'eq', '5').name).toBe('views_gte:eq')
  expect(toCondition('title', 'eq', 'eq.b').name).toBe('title:eq')
})

test.each(['author', 'a.count', 'counts', 'port', 'a\\:b'])(
  'A filter by the field %s needs no operator',
  (field) => {
    expect(toCondition(field, 'eq', '5').name).toBe(field)
    expect(conditionsOf(`${field}=5`)).toEqual([{ name: field, value: '5' }])
  },
)

test('A condition keeps its field, operator and value', () => {
  for (const operator of Object.keys(OPERATOR_WORDS) as Operator[]) {
    for (const field of ['author', 'author.name', 'limit', 'a\\:b']) {
      expect(partsOf(toCondition(field, operator, 'x'))).toEqual({ field, operator, value: 'x' })
    }
  }
})
