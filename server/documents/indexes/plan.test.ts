import { describe, expect, it } from 'vitest'
import { parseFieldList } from '../../contract/query/field-path.ts'
import { adviseFields } from '../find/advise.ts'
import { parseDocumentQuery } from '../query/query.ts'
import type { IndexDefinition } from './definition.ts'
import { KEY_BYTES } from './index-key.ts'
import { planQuery } from './plan.ts'

const indexes = (...names: readonly string[]): IndexDefinition[] =>
  names.map((name, id) => ({
    id,
    name,
    fields: parseFieldList(name, 'fields'),
    isUnique: false,
    state: 'ready',
  }))

/** A string that is truncated in keys. */
const LONG = 'x'.repeat(KEY_BYTES)

/** Returns the plan of a query as text: the fields of the index, its order, streams and ranges. */
function planOf(names: readonly string[], query: string, count = false): string {
  const { conditions, sort } = parseDocumentQuery(new URLSearchParams(query))
  const plan = planQuery(indexes(...names), { conditions, sort, count })
  if (plan === undefined) return 'scan'
  const { index, isOrdered, isReversed, streams } = plan
  const order = isReversed ? ' reversed' : isOrdered ? ' ordered' : ''
  const ranges = streams.reduce((sum, stream) => sum + stream.ranges.length, 0)
  return `${index.name}${order} ${streams.length} ${ranges}`
}

describe('planQuery', () => {
  it.each<[string, readonly string[], string, string]>([
    ['equality', ['author'], 'author=ada', 'author ordered 1 1'],
    ['a number and the string of the same text', ['year'], 'year=2020', 'year ordered 2 2'],
    ['a nested field', ['author.name'], 'author.name=ada', 'author.name ordered 1 1'],
    ['a field without an index', ['author'], 'title=sea', 'scan'],
    ['no condition', ['author'], '', 'scan'],
    ['an order', ['-year'], 'sort=-year', '-year ordered 1 1'],
    ['the other direction', ['year'], 'sort=-year', 'year reversed 1 1'],
    ['the other directions', ['a,-b'], 'sort=-a,b', 'a,-b reversed 1 1'],
    ['mixed directions', ['a,b'], 'sort=a,-b', 'scan'],
    ['equality, then the other direction', ['a,b'], 'a=x&sort=-b', 'a,b reversed 1 1'],
    ['the same direction before the other', ['year', '-year'], 'sort=-year', '-year ordered 1 1'],
    ['a range in the other direction', ['a'], 'a:gte=1&sort=-a', 'a reversed 1 2'],
    ['an order that ends in another field', ['year,title'], 'sort=year', 'scan'],
    ['equality, then order', ['author,-year'], 'author=a&sort=-year', 'author,-year ordered 1 1'],
    ['equality in another order', ['author,-year'], 'author=a&sort=title', 'author,-year 1 1'],
    ['equality, ties by id', ['author,-year'], 'author=a', 'author,-year 1 1'],
    ['an order that ends in the id', ['year'], 'sort=-year,id,title', 'year reversed 1 1'],
    ['the order of ids', ['id'], 'sort=id', 'scan'],
    ['the opposite order of ids', ['id'], 'sort=-id,year', 'scan'],
    ['an index that ends in the id', ['year,id'], 'sort=year', 'year,id ordered 1 1'],
    [
      'an index that ends in the id, backwards',
      ['-year,-id'],
      'sort=year',
      '-year,-id reversed 1 1',
    ],
    ['ids in the other direction', ['year,id'], 'sort=-year', 'scan'],
    ['ids in the other direction too', ['year,id'], 'sort=-year,-id', 'year,id reversed 1 1'],
    ['equality, ties by the id of the index', ['a,id'], 'a=x', 'a,id ordered 1 1'],
    ['an order with a fixed field', ['a,b'], 'a=x&sort=a,b', 'a,b ordered 1 1'],
    ['an order by a field with two values', ['a,b'], 'a=1&sort=a,b', 'a,b 2 2'],
    ['two values, merged by the rest', ['a,b'], 'a=1&sort=b', 'a,b ordered 2 2'],
    ['a range of strings', ['a'], 'a:gte=x', 'a 1 1'],
    ['a range of numbers and strings', ['a'], 'a:gte=1', 'a 1 2'],
    ['a range in order', ['a'], 'a:gte=1&sort=a', 'a ordered 1 2'],
    ['two bounds', ['a'], 'a:gte=1&a:lt=5', 'a 1 2'],
    ['an empty range', ['a'], 'a:gt=b&a:lt=a', 'a 1 0'],
    ['a prefix', ['-a'], 'a:starts=se', '-a 1 1'],
    ['a prefix of digits', ['a'], 'a:starts=1', 'a 1 1'],
    ['equality, then a range', ['a,b'], 'a=x&b:lt=y', 'a,b 1 1'],
    ['several values', ['a'], 'a:in=x,y,1', 'a ordered 4 4'],
    ['several values with one key', ['a'], `a:in=${LONG}y,${LONG}x&sort=a`, 'a 1 1'],
    ['the same value twice', ['a'], 'a:in=x,x', 'a ordered 1 1'],
    ['the shorter of two lists', ['a'], 'a:in=x,y&a=x', 'a ordered 1 1'],
    ['residual operators', ['a'], 'a:ne=x', 'scan'],
    ['residual operators beside equality', ['a,b'], 'a=x&b:contains=y', 'a,b 1 1'],
    ['the longest prefix', ['a', 'a,b'], 'a=x&b=y', 'a,b ordered 1 1'],
    ['a range before an order', ['a,c', 'a,b'], 'a=x&b:gt=y&sort=c', 'a,b 1 1'],
    ['an order before none', ['a,b', 'a,c'], 'a=x&sort=c', 'a,c ordered 1 1'],
    ['the fewest fields', ['a,b,c', 'a,b'], 'a=x', 'a,b 1 1'],
    ['the id order', ['a,b', 'a'], 'a=x', 'a ordered 1 1'],
    ['equality before order', ['-y', 'a'], 'a=x&sort=-y', 'a 1 1'],
  ])('%s', (_, names, query, expected) => {
    expect(planOf(names, query)).toBe(expected)
  })

  it.each<[string, readonly string[], string, boolean]>([
    ['equality', ['a'], 'a=x', true],
    ['a number', ['a'], 'a=1', true],
    ['several values', ['a'], 'a:in=x,1', true],
    ['a range', ['-a'], 'a:gte=1&a:lt=5', true],
    ['a prefix', ['a'], 'a:starts=x', true],
    ['equality, then a range', ['a,b'], 'a=x&b:lt=y', true],
    ['an order', ['a'], 'sort=a', true],
    ['another field', ['a'], 'a=x&b=y', false],
    ['two lists for one field', ['a'], 'a:in=x,y&a=x', false],
    ['equality and a range of one field', ['a'], 'a=x&a:gt=w', false],
    ['another operator', ['a'], 'a=x&a:ne=y', false],
    ['an array, which has the key of all arrays', ['a'], 'a=[1]', false],
    ['a string that is truncated in keys', ['a'], `a=${LONG}`, false],
    ['a bound that is truncated in keys', ['a'], `a:gt=${LONG}`, false],
  ])('knows whether its ranges decide about %s', (_, names, query, expected) => {
    const { conditions, sort } = parseDocumentQuery(new URLSearchParams(query))
    const plan = planQuery(indexes(...names), { conditions, sort, count: false })
    expect(plan?.isExact).toBe(expected)
  })

  it('bounds the number of ranges', () => {
    const list = (length: number) => Array.from({ length }, (_, at) => `v${at}`).join(',')
    expect(planOf(['a,b'], `a:in=${list(8)}&b:in=${list(8)}`)).toBe('a,b ordered 64 64')
    expect(planOf(['a,b'], `a:in=${list(8)}&b:in=${list(9)}`)).toBe('a,b 8 8')
    expect(planOf(['a,b'], `a:in=${list(65)}`)).toBe('scan')
  })

  it('intersects the maximum number of bounds', () => {
    const bounds = Array.from({ length: 50 }, (_, at) => `a:gt=${at}`).join('&')
    expect(planOf(['a'], bounds)).toBe('a 1 2')
  })

  it('reads all documents that match to count them', () => {
    expect(planOf(['a'], 'a=x', true)).toBe('a 1 1')
    expect(planOf(['a'], 'sort=a', true)).toBe('scan')
  })
})

describe('adviseFields', () => {
  it.each<[string, readonly string[] | undefined]>([
    ['author=ada', ['author']],
    ['author=ada&sort=-year,title', ['author', '-year', 'title']],
    ['year:gte=2000&sort=-year', ['-year']],
    ['author=ada&year:gte=2000&sort=title', ['author', 'year']],
    ['a\\.b=1', ['a\\.b']],
    ['title:contains=sea', undefined],
  ])('%s', (query, expected) => {
    expect(adviseFields(parseDocumentQuery(new URLSearchParams(query)))).toEqual(expected)
  })
})
