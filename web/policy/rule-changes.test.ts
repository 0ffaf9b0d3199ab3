import { expect, test } from 'vitest'
import type { Policy } from '../../server/contract/endpoints/policy.ts'
import { compareRules, dropPastRemoval, samePolicy } from './rule-changes.ts'

const now = Date.parse('2026-05-01T12:00:00Z')
const every: Policy = {
  enabled: false,
  closesAt: '2026-05-01T13:20:00Z',
  note: 'For the partner',
  allow: ['192.0.2.0/24', '198.51.100.7', '2001:db8::/32'],
  deny: ['192.0.2.1'],
  readOnly: true,
  anonymous: { read: true },
  administration: false,
  cors: { origins: ['*'] },
  rateLimit: { requestsPerSecond: 50 },
  maxConnections: 100,
  maxBodyBytes: 1_048_576,
}

test('the difference of two policies has one line for each changed rule', () => {
  const after: Policy = {
    ...every,
    note: '',
    anonymous: { read: ['articles'] },
    readOnly: false,
    cors: { origins: ['https://a.example'], maxAge: 600 },
    rateLimit: { requestsPerSecond: 50, burst: 100, by: 'endpoint' },
  }
  expect(compareRules(every, after)).toEqual([
    { rule: 'Note', before: 'For the partner', after: 'none' },
    { rule: 'Documents', before: 'read-only', after: 'read and write' },
    { rule: 'Read without a token', before: 'all collections', after: 'articles' },
    { rule: 'Origins of other pages', before: 'all', after: 'https://a.example, kept for 600 s' },
    { rule: 'Requests', before: '50/s for each client', after: '50/s in all, 100 at once' },
  ])
  expect(compareRules(null, every)).toHaveLength(Object.keys(every).length)
})

test('policies with the same effect are equal', () => {
  expect(samePolicy(null, { enabled: true, deny: [], anonymous: 'none' })).toBe(true)
  expect(
    samePolicy({ closesAt: '2026-05-01T12:00:00Z' }, { closesAt: '2026-05-01T14:00:00+02:00' }),
  ).toBe(true)
  expect(samePolicy(null, { allow: [] })).toBe(false)
})

test('another authority of the clients is a change, also one of the same length', () => {
  const withAuthority = (text: string): Policy => ({
    tls: {
      certificates: ['web'],
      clientAuth: {
        ca: `-----BEGIN CERTIFICATE-----\n${text}\n-----END CERTIFICATE-----\n`,
        mode: 'require',
      },
    },
  })
  expect(compareRules(withAuthority('AAAABBBBCCCC'), withAuthority('AAAABBBBDDDD'))).toEqual([
    { rule: 'Authority of the clients', before: '…BBBBCCCC', after: '…BBBBDDDD' },
  ])
})

test('a time of removal that has passed is dropped', () => {
  expect(dropPastRemoval(every, now)).toBe(every)
  expect(dropPastRemoval(every, now + 5_000_000)).not.toHaveProperty('closesAt')
})
