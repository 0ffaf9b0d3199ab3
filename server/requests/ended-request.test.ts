import { expect, test } from 'vitest'
import { createOperatorKey, createTokenText } from '../access/secrets/secret-text.ts'
import { Failure } from '../failure.ts'
import { createSecret } from '../secret.ts'
import { recordedPath, rejectionOf } from './ended-request.ts'

const token = createTokenText()

test.each([
  ['/articles?token=x', '/articles'],
  ['/articles#x', '/articles'],
  ['http://user:pass@host/articles?x', '/articles'],
  ['*', '…'],
  [`/articles/${token}/x`, '/articles/…/x'],
  [`/articles/x${token.slice(0, 33)}`, '/articles/…'],
  [
    `/articles/${[...token].map((c) => `%${c.charCodeAt(0).toString(16)}`).join('')}`,
    '/articles/…',
  ],
  [`/articles/${createSecret()}A1`, '/articles/…'],
  [`/_db/${createOperatorKey()}/x`, '/_db/…/x'],
  [`/articles/${encodeURIComponent('aB/1+'.repeat(8))}=/x`, '/articles/…/x'],
  [`/a/${'b'.repeat(300)}`, '/a/…'],
  [`/${'a/'.repeat(200)}${token}`, `/${'a/'.repeat(127)}…`],
])('the target %s is recorded as %s', (url, path) => {
  expect(recordedPath({ url })).toBe(path)
})

test.each([
  '/',
  '/articles/019aa3f0-1111-7222-8333-444455556666',
  '/articles/how-to-write-a-title-with-many-words',
  '/_api/endpoint/tcp%3A%2F%2F127.0.0.1%3A8529',
  '/_api/endpoint/ssl%3A%2F%2Fapi.partner-network.example.org%3A8530/x',
  '/_api/endpoint/unix%3A%2F%2F%2Frun%2Fgatehouse%2Fendpoints%2Fapi-of-the-partner.sock',
  '/articles/%ff%ff%ff%ff%ff%ff%ff%ff%ff%ff%ff%ff',
])('the path %s is recorded unchanged', (url) => {
  expect(recordedPath({ url })).toBe(url)
})

test('a rejection is named by the rule of the policy, otherwise by its error or status', () => {
  const failure = (code: ConstructorParameters<typeof Failure>[0], rule?: string) => {
    const error = new Failure(code, 'x', rule === undefined ? {} : { rule })
    return rejectionOf(error.kind.status, error)
  }
  expect(failure('forbidden', 'readOnly')).toBe('readOnly')
  expect(failure('not-found', 'administration')).toBe('administration')
  expect(
    (
      [
        'unauthenticated',
        'forbidden',
        'misdirected',
        'too-many-requests',
        'too-large',
        'database-not-found',
      ] as const
    ).map((code) => failure(code)),
  ).toEqual(['credential', 'permission', 'host', 'rate', 'size', 'database'])
  expect(['not-found', 'conflict', 'internal'].map((code) => failure(code as 'conflict'))).toEqual([
    null,
    null,
    null,
  ])
  // A page of the sign-in.
  expect(rejectionOf(403, undefined)).toBe('permission')
})
