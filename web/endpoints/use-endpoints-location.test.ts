import { expect, test } from 'vitest'
import { readEndpointsSearch } from './use-endpoints-location.ts'

const [own, other] = ['tcp://127.0.0.1:8530', 'tcp://127.0.0.1:8531']

test.each([
  ['a tab', { open: own, tab: 'connect' }, { open: own, tab: 'connect' }],
  ['the first tab', { open: own, tab: 'status' }, { open: own }],
  ['an unknown tab', { open: own, tab: 'toString' }, { open: own }],
  ['a tab without a panel', { q: 'shop', tab: 'connect' }, { q: 'shop' }],
  ['a policy', { policy: own }, { open: own, tab: 'policy' }],
  ['a policy over a panel', { open: other, policy: own }, { open: own, tab: 'policy' }],
  [
    'a section',
    { policy: own, section: 'limits' },
    { open: own, tab: 'policy', policy: own, section: 'limits' },
  ],
  [
    'a blocked client over a panel',
    { open: own, tab: 'requests', policy: own, deny: '192.0.2.1' },
    { open: own, tab: 'requests', policy: own, section: 'access', deny: '192.0.2.1' },
  ],
])('the URL of %s is %j', (_, search, read) => {
  expect(readEndpointsSearch(search)).toEqual(read)
  // The router merges what was read with what the URL has.
  expect(readEndpointsSearch({ ...search, ...read })).toEqual(read)
})
