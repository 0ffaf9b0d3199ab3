import { expect, test } from 'vitest'
import { toApiPath } from './api-url.ts'
import { conditionsOf } from './conditions.ts'
import {
  adviseFields,
  describePlan,
  findIndex,
  findSameIndex,
  nameIndex,
  parsePlan,
} from './query-plan.ts'
import { parseSort } from './sort.ts'

test.each([
  ['scan; scanned=200000; returned=3', 'Scanned 200,000 documents.'],
  ['scan; scanned=1; returned=1', 'Scanned 1 document.'],
  ['index=by-author; scanned=12; returned=12', 'Read 12 documents using the index by-author.'],
])('The plan %j is described as %j', (header, words) => {
  const plan = parsePlan(header)
  expect(plan && describePlan(plan)).toBe(words)
})

test('A missing or unknown plan is not described', () => {
  expect(parsePlan(null)).toBeUndefined()
  expect(parsePlan('none')).toBeUndefined()
})

test.each([
  ['author=ada', '', ['author']],
  ['year:gte=2000&author:in=ada,grace', '', ['author', 'year']],
  ['author=ada', '-year,title', ['author', '-year', 'title']],
  ['year:lt=2000', '-year', ['-year']],
  ['year:lt=2000', 'title', ['year']],
  ['author=ada', 'author', ['author']],
  ['title:contains=x', '', []],
  ['title:contains=x', '-id', []],
  ['author=ada', '-id', ['author', '-id']],
  ['id:gt=x', '-id', ['-id']],
])('The filter %j in the order %j is served by an index on %j', (filter, sort, fields) => {
  expect(adviseFields(conditionsOf(filter), parseSort(sort))).toEqual(fields)
})

test('An index is named after its fields, unless the name is taken', () => {
  const nameOf = (...fields: string[]) => nameIndex({ fields, unique: false }, [])
  expect(nameOf('author.name', '-Year')).toBe('by-author-name-year')
  expect(nameOf('名')).toBe('by')
  expect(nameOf('x'.repeat(99)).length).toBeLessThanOrEqual(64)
  const taken = ['by-author', 'by-author-2'].map((name) => ({
    name,
    fields: ['writer'],
    unique: false,
    state: 'ready' as const,
  }))
  expect(nameIndex({ fields: ['author'], unique: false }, taken)).toBe('by-author-3')
})

test('An index with the same definition keeps its name, so that it is not created twice', () => {
  const state = 'ready' as const
  const stored = [{ name: 'by-author', fields: ['author', '-year'], unique: false, state }]
  expect(nameIndex({ fields: ['author', '-year'], unique: false }, stored)).toBe('by-author')
  expect(nameIndex({ fields: ['author'], unique: false }, stored)).toBe('by-author-2')
  expect(nameIndex({ fields: ['author', '-year'], unique: true }, stored)).toBe('by-author-year')
})

test('Of two indexes with the same definition, the one that has not failed is found', () => {
  const definition = { fields: ['email'], unique: true }
  const failed = { ...definition, name: 'by-email', state: 'failed' as const }
  const building = { ...definition, name: 'emails', state: 'building' as const }
  expect(findSameIndex(definition, [failed])).toBe(failed)
  expect(findSameIndex(definition, [failed, building])).toBe(building)
})

test('A failed index neither serves a query nor hides another one with the same fields', () => {
  const rest = { fields: ['author'], progress: null, duplicates: [], excluded: 0 }
  const failed = { ...rest, name: 'by-author', unique: true, state: 'failed' as const }
  const building = { ...rest, name: 'by-author-2', unique: false, state: 'building' as const }
  expect(findIndex([failed], ['author'])).toBeUndefined()
  expect(findIndex([failed, building], ['author'])).toBe(building)
  expect(nameIndex({ fields: ['author'], unique: false }, [failed])).toBe('by-author-2')
})

test('The URL of the API is readable and unambiguous', () => {
  const path = toApiPath(
    { database: 'blog', collection: 'articles' },
    conditionsOf('author.name=ada & year:gte=2000 & title=a %26 b=ü'),
    '-year,title',
  )
  expect(path).toBe(
    '/_db/blog/articles?author.name=ada&year:gte=2000&title=a%20%26%20b%3D%C3%BC&sort=-year,title',
  )
})

test('The request of a page has its position', () => {
  const collectionRef = { database: 'shop', collection: 'orders' }
  expect(toApiPath(collectionRef, [], undefined, { after: 'a b&c' })).toBe(
    '/_db/shop/orders?after=a%20b%26c',
  )
  expect(toApiPath(collectionRef, [], '-total', { cursor: 'x+y' })).toBe(
    '/_db/shop/orders?sort=-total&cursor=x%2By',
  )
})
