import { expect, test } from 'vitest'
import { emptyTokenDraft, tokenSchema, toTokenInput } from './token-draft.ts'

const now = Date.parse('2026-01-01T00:00:00Z')
const draft = { ...emptyTokenDraft, name: ' backup ' }

test('a token expires after 90 days by default', () => {
  expect(toTokenInput(draft, now)).toEqual({
    name: 'backup',
    role: 'viewer',
    databases: null,
    expires: '2026-04-01T00:00:00.000Z',
  })
  expect(toTokenInput({ ...draft, lifetime: 'never' }, now).expires).toBeNull()
})

test('an expiry date includes the whole day', () => {
  const { expires } = toTokenInput({ ...draft, lifetime: 'date', day: '2026-02-03' }, now)
  expect(new Date(expires ?? '').toString()).toContain('Feb 03 2026 23:59:59')
})

test.each([
  [{ name: ' ' }, { name: 'Enter a name, such as the app that will use this token.' }],
  [{ name: 'x'.repeat(65) }, { name: 'The name is too long. Use at most 64 characters.' }],
  [{ reach: 'only' }, { databases: 'Choose at least one database, or choose All databases.' }],
  [{ lifetime: 'date', day: '' }, { day: 'Choose a date in the future.' }],
  [{ lifetime: 'date', day: '2025-12-30' }, { day: 'Choose a date in the future.' }],
  [{}, {}],
] as const)('%j has the errors %j', (part, errors) => {
  const { error } = tokenSchema(() => now).safeParse({ ...draft, ...part })
  const found = error?.issues.map(({ path, message }) => [path.join('.'), message]) ?? []
  expect(Object.fromEntries(found)).toEqual(errors)
})
