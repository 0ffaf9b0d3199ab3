import { expect, test } from 'vitest'
import { describeUnsearched, MAX_DATABASES, searchedDatabases } from './use-collection-items.ts'

const named = (count: number) => Array.from({ length: count }, (_, n) => `Tenant-${n}`)
const few = named(MAX_DATABASES)
const many = named(MAX_DATABASES + 1)

test('The collections of a few databases are all searched', () => {
  expect(searchedDatabases(few, 'articles', [])).toEqual(few)
})

test.each([
  ['articles', [], []],
  ['articles', ['Tenant-2', 'dropped'], ['Tenant-2']],
  ['tenant-3', ['Tenant-2'], ['Tenant-2']],
  ['tenant-3/', ['Tenant-2'], ['Tenant-3', 'Tenant-2']],
  [' Tenant-3 / art', ['Tenant-3'], ['Tenant-3']],
  ['tcp://127.0.0.1', [], []],
  ['/', [], []],
])('Of many databases, %j searches those that are named or loaded: %j', (query, loaded, found) => {
  expect(searchedDatabases(many, query, loaded)).toEqual(found)
})

test('The number of searched databases is limited, and one that is named is among them', () => {
  const found = searchedDatabases(many, `${many.at(-1)}/`, many)
  expect(found).toHaveLength(MAX_DATABASES)
  expect(found[0]).toBe(many.at(-1))
})

test.each([
  [{ searched: 0, served: 21, all: 30 }, /^Collections are not searched\. To search those of a /],
  [{ searched: 3, served: 3, all: 3 }, undefined],
  [
    { searched: 1, served: 21, all: 30 },
    /^Collections of 1 of 21 databases are searched\. To search/,
  ],
  [
    { searched: 2, served: 2, all: 3 },
    /^Collections of 1 database are not .* does not serve it\.$/,
  ],
  [{ searched: 2, served: 2, all: 9 }, /^Collections of 7 databases are .* does not serve them\.$/],
])('The search says which collections it omits: %j', (count, text) => {
  const message = describeUnsearched(count)
  if (text === undefined) expect(message).toBeUndefined()
  else expect(message).toMatch(text)
})
