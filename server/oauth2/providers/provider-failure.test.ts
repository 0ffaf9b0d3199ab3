import { expect, test } from 'vitest'
import { createRedactor, providerFailure } from './provider-failure.ts'

test('a failed connection is named by its system code or by its cause', () => {
  const provider = { name: 'corp', label: 'Corp', form: 'exact' } as const
  const url = 'https://corp.example/token'
  const message = (cause: unknown) =>
    providerFailure(provider, new TypeError('fetch failed', { cause }), { url }, 'x').message
  const refused = Object.assign(new Error('connect'), { code: 'ECONNREFUSED' })
  expect(message(refused)).toContain('fetch failed (ECONNREFUSED).')
  expect(message(new Error('bad port'))).toContain('fetch failed (bad port).')
  expect(message(undefined)).toContain('fetch failed.')
})

test('a secret is redacted in each spelling in which it was sent', () => {
  const hide = createRedactor(['a secret+"1"'])
  expect(hide('a secret+"1", a%20secret%2B%221%22, a+secret%2B%221%22, a secret+\\"1\\"')).toBe(
    '[redacted], [redacted], [redacted], [redacted]',
  )
})

test('a secret that is the beginning of another one leaves nothing of it', () => {
  expect(createRedactor(['canary-1', 'canary-1-and-2'])('x canary-1-and-2 x')).toBe(
    'x [redacted] x',
  )
})

test('a text that takes long to search is redacted as a whole', () => {
  const hide = createRedactor(['canary-secret'])
  expect(hide('x'.repeat(8 * 1024))).toBe('x'.repeat(8 * 1024))
  expect(hide('x'.repeat(8 * 1024 + 1))).toBe('[redacted]')
})

test('a short text, such as a forged code, is redacted only as a word', () => {
  const hide = createRedactor(['c', ''])
  expect(hide('invalid_client: the code c')).toBe('invalid_client: the code [redacted]')
  expect(createRedactor([])('invalid_client')).toBe('invalid_client')
})
