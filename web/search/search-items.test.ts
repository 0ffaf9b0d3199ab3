import { expect, test } from 'vitest'
import { find } from './match.ts'
import {
  builtInItems,
  collectionItems,
  databaseItems,
  endpointItems,
  findCollection,
} from './search-items.ts'

const items = [
  ...databaseItems(['shop', 'webshop']),
  ...collectionItems('shop', ['articles', 'orders']),
  ...collectionItems('blog', ['articles']),
]
const found = (query: string) => find(items, query, 10).best.map(({ label }) => label)

test.each([
  ['orders', ['shop / orders']],
  ['arti', ['shop / articles', 'blog / articles']],
  ['shop/art', ['shop / articles']],
  ['shop / art', ['shop / articles']],
  ['art blog', ['blog / articles']],
  // Databases come before the collections of a database with that name.
  ['shop', ['shop', 'webshop', 'shop / orders', 'shop / articles']],
  ['shop/', ['shop / orders', 'shop / articles']],
])('%j finds collections', (query, labels) => {
  expect(found(query)).toEqual(labels)
})

test('A collection opens its documents', () => {
  expect(items.at(-1)?.target).toEqual({ to: '/data/blog/articles' })
})

test('A recent collection is found by its id if its database exists', () => {
  const [orders] = collectionItems('shop', ['orders'])
  expect(findCollection('Collection:shop/orders', ['blog', 'shop'])).toEqual(orders)
  expect(findCollection('Collection:shop/orders', ['blog'])).toBeUndefined()
  expect(findCollection('Database:shop', ['shop'])).toBeUndefined()
})

test('An endpoint is found by its note', () => {
  const endpoints = ['tcp://127.0.0.1:1', 'tcp://127.0.0.1:2'].map((endpoint) => ({
    endpoint,
    databases: [],
  }))
  const policies = [
    { endpoint: 'tcp://127.0.0.1:2', policy: { note: 'For the partner' }, revision: 1 },
    { endpoint: 'tcp://127.0.0.1:1', policy: {}, revision: 1 },
  ]
  const { best } = find(endpointItems(endpoints, policies), 'partner', 10)
  expect(best.map(({ label, note }) => [label, note])).toEqual([
    ['tcp://127.0.0.1:2', 'For the partner'],
  ])
})

const person = { id: '1', username: 'x:a', name: null, provider: 'x', databases: null } as const

test.each([
  ['add endpoint', '/endpoints/new'],
  ['create database', '/data'],
  ['invite someone', '/access/people'],
  ['new token', '/me/new-token'],
  ['add certificate', '/certificates/new'],
  ['add webhook', '/webhooks/new'],
])('%j is an action, which opens its dialog', (query, to) => {
  const [best] = find(builtInItems({ ...person, role: 'admin' }), query, 10).best
  expect(best?.target).toMatchObject({ to })
})

test('A theme is found as "change theme", and an invitation only by admins', () => {
  const search = (query: string) =>
    find(builtInItems({ ...person, role: 'operator' }), query, 10).best.map(({ label }) => label)
  expect(search('change theme')).toHaveLength(3)
  expect(search('invite someone')).toEqual([])
})
