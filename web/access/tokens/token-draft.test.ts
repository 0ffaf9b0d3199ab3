import { expect, test } from 'vitest'
import { emptyTokenDraft, tokenFaults, toTokenInput } from './token-draft.ts'

const now = Date.parse('2026-01-01T00:00:00Z')
const draft = { ...emptyTokenDraft, name: ' backup ' }

test('a token ends after 90 days, unless something else is chosen', () => {
  expect(toTokenInput(draft, now)).toEqual({
    name: 'backup',
    role: 'viewer',
    databases: null,
    expires: '2026-04-01T00:00:00.000Z',
  })
  expect(toTokenInput({ ...draft, lasting: 'never' }, now).expires).toBeNull()
})

test('a day counts to its end', () => {
  const { expires } = toTokenInput({ ...draft, lasting: 'date', day: '2026-02-03' }, now)
  expect(new Date(expires ?? '').toString()).toContain('Feb 03 2026 23:59:59')
})

test.each([
  [{ name: ' ' }, { name: 'The name is missing. Call it after what uses it.' }],
  [{ name: 'x'.repeat(65) }, { name: 'The name is too long: 64 characters at most.' }],
  [{ reach: 'only' }, { databases: 'No database is chosen. Choose one, or choose All databases.' }],
  [{ lasting: 'date', day: '' }, { day: 'Choose a day to come.' }],
  [{ lasting: 'date', day: '2025-12-30' }, { day: 'Choose a day to come.' }],
  [{}, {}],
] as const)('with %j its faults are %j', (part, faults) => {
  expect(tokenFaults({ ...draft, ...part }, now)).toEqual(faults)
})
