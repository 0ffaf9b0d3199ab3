import { expect, test } from 'vitest'
import type { Policy } from '../../server/contract/endpoints/policy.ts'
import { formatRemoval, labelRules, RULE_WORDS } from './rule-labels.ts'

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
  tls: { certificates: ['web'] },
}

test('the rules of a policy are labelled, most important first', () => {
  const labels = labelRules(every, now)
  expect(labels.map(({ word }) => word)).toEqual(RULE_WORDS)
  expect(labels.map(({ text }) => text)).toEqual([
    'off',
    'removed in 1 h 20 min',
    'no token to read',
    'read-only',
    '3 networks only',
    '1 network blocked',
    'no console',
    'CORS',
    '50/s',
    '100 connections',
    'bodies ≤ 1 MiB',
    'TLS: web',
  ])
})

test.each<[Policy, string[]]>([
  [{}, []],
  [
    {
      enabled: true,
      readOnly: false,
      administration: true,
      anonymous: 'none',
      deny: [],
      note: 'x',
    },
    [],
  ],
  [{ allow: [] }, ['no clients']],
  [{ rateLimit: { requestsPerSecond: 0.05 }, maxBodyBytes: 2_000 }, ['0.05/s', 'bodies ≤ 2 kB']],
  [
    {
      tls: { certificates: ['a', 'b', 'c'], clientAuth: { ca: '…', mode: 'require' } },
    },
    ['TLS: a + 2, client certificate'],
  ],
  [{ maxConnections: 1, maxBodyBytes: 3 * 1024 ** 3 }, ['1 connection', 'bodies ≤ 3 GiB']],
])('the policy %j has the labels %j', (policy, texts) => {
  expect(labelRules(policy, now).map(({ text }) => text)).toEqual(texts)
})

test('a warning about a certificate comes first, also without a policy', () => {
  const [first, second] = labelRules(every, now, 'certificate expires in 6 d')
  expect(first).toEqual({ word: 'tls', text: 'certificate expires in 6 d' })
  expect(second?.word).toBe('off')
  expect(labelRules({}, now, 'certificate expired')).toHaveLength(1)
})

test.each([
  [-1, 'being removed'],
  [40_000, 'removed in 40 s'],
  [20 * 60_000, 'removed in 20 min'],
  [3_599_999, 'removed in 1 h'],
  [80 * 60_000, 'removed in 1 h 20 min'],
  [75 * 3_600_000, 'removed in 3 d 3 h'],
])('%d ms before its removal, an endpoint is %s', (left, text) => {
  expect(formatRemoval(left)).toBe(text)
})
