import { describe, expect, test } from 'vitest'
import type { Policy } from '../../server/contract/endpoints/policy.ts'
import { ApiFailure } from '../api/client.ts'
import {
  orDefaults,
  type PolicyDraft,
  policyDraftSchema,
  toPolicy,
  toPolicyDraft,
  toPolicyErrors,
  toPolicyInput,
  withChange,
  withSection,
} from './policy-draft.ts'
import type { PolicySection } from './policy-sections.ts'

const every: Policy = {
  enabled: false,
  closesAt: '2099-05-01T13:20:31.250Z',
  note: 'For the partner',
  allow: ['192.0.2.0/24', '2001:db8::/32'],
  deny: ['192.0.2.1'],
  readOnly: true,
  anonymous: { read: ['articles', 'notes'] },
  administration: false,
  cors: { origins: ['https://a.example', 'https://b.example'], maxAge: 0 },
  rateLimit: { requestsPerSecond: 0.5, burst: 20, by: 'token' },
  maxConnections: 100,
  maxBodyBytes: 1_048_577,
  tls: {
    certificates: ['web', 'other'],
    minVersion: '1.3',
    clientAuth: {
      ca: '-----BEGIN CERTIFICATE-----',
      mode: 'request',
      tokens: [{ san: 'backup.example', token: 't1' }],
    },
  },
}

const throughForm = (policy: Policy | null) =>
  orDefaults(toPolicyInput(toPolicyDraft(policy), policy))

describe('the form', () => {
  test.each<[string, Policy | null]>([
    ['the defaults', null],
    ['every rule', every],
    ['no client', { allow: [] }],
    [
      'other choices',
      {
        tls: { certificates: ['web'] },
        anonymous: { read: true },
        cors: { origins: ['*'] },
        maxBodyBytes: 10_000,
      },
    ],
  ])('keeps %s as they are', (_, policy) => {
    expect(throughForm(policy)).toEqual(policy)
  })

  test('sends no field with a default value', () => {
    const explicit: Policy = {
      enabled: true,
      note: '',
      deny: [],
      readOnly: false,
      anonymous: 'none',
      administration: true,
      rateLimit: { requestsPerSecond: 5, by: 'client' },
    }
    expect(throughForm(explicit)).toEqual({ rateLimit: { requestsPerSecond: 5 } })
  })

  test('lets the server compute a time from a duration', () => {
    const input = toPolicyInput({ ...toPolicyDraft(every), closes: '2d' }, every)
    expect(input).toMatchObject({ closesIn: '2d' })
    expect(input).not.toHaveProperty('closesAt')
    expect(toPolicy(input, Date.UTC(2026, 0, 1)).closesAt).toBe('2026-01-03T00:00:00.000Z')
  })

  test.each([
    ['10 MiB', 10_485_760],
    ['1.5kB', 1_500],
    ['4096', 4_096],
  ])('reads the size %s', (bodySize, maxBodyBytes) => {
    expect(toPolicyInput({ ...toPolicyDraft(null), bodySize }, null)).toEqual({ maxBodyBytes })
  })

  test.each<[keyof PolicyDraft, Partial<PolicyDraft>]>([
    ['closesAt', { closes: 'at' }],
    ['closesAt', { closes: 'at', closesAt: '2020-01-01T00:00' }],
    ['collections', { anonymous: 'some' }],
    ['origins', { pages: 'some', origins: ' ' }],
    ['maxAge', { pages: 'all', maxAge: '86401' }],
    ['rate', { rate: 'many' }],
    ['rate', { burst: '5' }],
    ['burst', { rate: '1', burst: '1.5' }],
    ['connections', { connections: '0' }],
    ['bodySize', { bodySize: '5 bananas' }],
    ['note', { note: 'x'.repeat(501) }],
    ['certificates', { minVersion: '1.3' }],
    ['ca', { certificates: ['web'], clientAuth: 'require' }],
    [
      'tokens',
      {
        certificates: ['web'],
        clientAuth: 'request',
        ca: '-----BEGIN',
        tokens: [{ san: 'a.example', token: '' }],
      },
    ],
  ])('shows an error at %s for %j', (field, change) => {
    const { error } = policyDraftSchema.safeParse({ ...toPolicyDraft(null), ...change })
    expect(error?.issues.map(({ path }) => path)).toEqual([[field]])
  })

  test('shows an error of the server at its field', () => {
    const rejected = new ApiFailure(400, 400, '"x" is not an IP address or a CIDR range.', {
      field: '/allow/1',
    })
    expect(toPolicyErrors(rejected, 'access')).toEqual({ allow: rejected.message })
    const origin = new ApiFailure(400, 400, 'cors', {
      errors: [{ field: '/cors/origins/0', reason: 'must be * or an origin' }],
    })
    expect(toPolicyErrors(origin, 'pages')).toEqual({ origins: 'Must be * or an origin.' })
    // The field is not in this form.
    expect(toPolicyErrors(origin, 'limits')).toEqual({ form: origin.message })
    expect(toPolicyErrors(new ApiFailure(409, 1200, 'No.'), 'limits')).toEqual({ form: 'No.' })
  })
})

test('an edited section leaves the others as they are stored', () => {
  const edited = { ...toPolicyDraft(null), documents: 'read', rate: '5', note: 'Mine' } as const
  const stored = { note: 'Theirs', maxConnections: 7 }
  const save = (section: PolicySection) =>
    toPolicyInput(withSection(stored, section, edited), stored)
  expect(save('documents')).toEqual({ ...stored, readOnly: true })
  expect(save('limits')).toEqual({ note: 'Theirs', rateLimit: { requestsPerSecond: 5 } })
})

test('a client is blocked or allowed beside others, or is the only one allowed', () => {
  const stored = { note: 'x', allow: ['10.0.0.0/8'], deny: ['203.0.113.7', '192.0.2.0/24'] }
  expect(withChange(stored, {})).toBe(stored)
  expect(withChange(null, { deny: '203.0.113.7' })).toEqual({ deny: ['203.0.113.7'] })
  expect(withChange(stored, { deny: '203.0.113.7' })).toEqual(stored)
  expect(withChange(stored, { allow: '203.0.113.7' })).toEqual({
    note: 'x',
    allow: ['203.0.113.7'],
    deny: ['192.0.2.0/24'],
  })
  expect(withChange(stored, { alsoAllow: '203.0.113.7' })).toEqual({
    note: 'x',
    allow: ['10.0.0.0/8', '203.0.113.7'],
    deny: ['192.0.2.0/24'],
  })
  expect(withChange(stored, { certificate: 'web' })).toEqual({
    ...stored,
    tls: { certificates: ['web'] },
  })
  expect(withChange(every, { certificate: 'web' })).toEqual(every)
  expect(withChange({ deny: ['203.0.113.7'] }, { alsoAllow: '203.0.113.7' })).toEqual({ deny: [] })
})
