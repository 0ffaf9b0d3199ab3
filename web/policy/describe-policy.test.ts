import { expect, test } from 'vitest'
import type { Policy } from '../../server/contract/endpoints/policy.ts'
import { type DescribedRule, describeLockOut, describeRules } from './describe-policy.ts'
import { describeDecision } from './request-test.tsx'

/** Returns the sentences that differ from those of the defaults. */
function rulesOf(policy: Policy): string[] {
  const usual = describeRules({}, [])
  return Object.entries(describeRules(policy, [])).flatMap(([rule, sentence]) =>
    sentence === usual[rule as DescribedRule] ? [] : sentence,
  )
}

test.each<[Policy, string[]]>([
  [{}, []],
  [{ enabled: true, readOnly: false, anonymous: 'none', deny: [], note: 'x' }, []],
  [{ allow: [] }, ['No client can connect.']],
  [{ allow: ['::1'] }, ['Only ::1 can connect.']],
  [
    { allow: ['10.0.0.0/8', '::1', '192.0.2.1'], deny: ['10.0.0.1'] },
    ['Only 3 networks can connect: 10.0.0.0/8, ::1 and 192.0.2.1. Blocked: 10.0.0.1.'],
  ],
  [{ deny: ['10.0.0.1'] }, ['Every client can connect, except from 10.0.0.1.']],
  [{ readOnly: true }, ['No caller can change documents, with or without a token.']],
  [
    { anonymous: { read: ['articles', 'notes'] } },
    ['Everyone can read articles and notes without a token.'],
  ],
  [{ administration: false }, ['The console and sign-in do not exist here.']],
  [
    { cors: { origins: ['https://app.example'] } },
    ['Pages of https://app.example can read documents.'],
  ],
  [
    { rateLimit: { requestsPerSecond: 50, burst: 100 } },
    ['Each client can send 50 requests per second, 100 at once. On each node.'],
  ],
  [{ maxConnections: 1 }, ['1 connection can be open at once. On each node.']],
  [{ tls: { certificates: ['web'] } }, ['TLS 1.2 or newer, with the certificate web.']],
  [
    {
      tls: {
        certificates: ['web', 'other'],
        minVersion: '1.3',
        clientAuth: { ca: '…', mode: 'require', tokens: [{ san: 'a.example', token: 't' }] },
      },
    },
    [
      'TLS 1.3 or newer, with the certificates web and other. Clients need a certificate of the given authority. Those with 1 name need no token.',
    ],
  ],
  [{ maxBodyBytes: 1_048_576 }, ['Request bodies can have 1 MiB.']],
])('the policy %j is described as %j', (policy, sentences) => {
  expect(rulesOf(policy)).toEqual(sentences)
})

test('the console is missing where the mapping lacks _system', () => {
  expect(describeRules({}, ['blog']).administration).toBe(
    'The console is not available here, because the endpoint does not serve _system.',
  )
})

test.each<[Policy, boolean | undefined, RegExp | undefined]>([
  [{}, undefined, undefined],
  [
    { readOnly: true, cors: { origins: ['*'] }, rateLimit: { requestsPerSecond: 1 } },
    true,
    undefined,
  ],
  [{ allow: ['192.0.2.1'] }, true, undefined],
  [{ allow: ['192.0.2.1'] }, false, /does not admit your address/],
  [{ deny: ['192.0.2.1'] }, undefined, /may not admit your address/],
  [{ administration: false }, true, /Administration/],
  [{ maxConnections: 2 }, true, /Connections/],
  [{ maxConnections: 6 }, true, undefined],
  [
    { tls: { certificates: ['web'], clientAuth: { ca: '…', mode: 'require' } } },
    true,
    /Client certificates/,
  ],
  [{ closesAt: '2099-01-01T00:00:00Z' }, true, /Removed/],
])(
  'the policy %j for an address that is admitted (%s) locks out: %s',
  (policy, admitted, reason) => {
    const sentence = describeLockOut(policy, admitted)
    if (reason === undefined) expect(sentence).toBeUndefined()
    else expect(sentence).toMatch(reason)
  },
)

test('the rule that decides on a tested request is named', () => {
  expect(describeDecision(null, null)).toBe('Admitted: every rule permits the request.')
  expect(describeDecision('readOnly', 403)).toBe('Rejected with 403: Documents can only be read.')
  expect(describeDecision('cors', 204)).toMatch(/^Answered with 204/)
})
