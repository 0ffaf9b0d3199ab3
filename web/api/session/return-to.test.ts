import { expect, test } from 'vitest'
import { readReturnTo, signInUrl } from './return-to.ts'

const page = 'http://127.0.0.1:8529/_console/sign-in'

test('returns to the requested page with its query', () => {
  const at = new URL('http://127.0.0.1:8529/_console/endpoints?q=db%3Ashop&edit=tcp%3A%2F%2Fx')
  expect(readReturnTo(new URL(signInUrl(at), at))).toBe(at.pathname + at.search)
})

test.each([
  '',
  '/',
  '/_api/endpoint',
  '//evil.example/_console/',
  'https://evil.example/_console/',
  '/_console/../_api/session',
  '/_console/..\\..\\\\evil.example',
  '/_console/%2e%2e/x',
  '\\/_console/',
  '/_console/sign-in?returnTo=/_console/sign-in',
  'javascript:alert(1)',
])('returns to the start page instead of %j', (named) => {
  const url = new URL(page)
  url.searchParams.set('returnTo', named)
  expect(readReturnTo(url)).toBe('/_console/')
})
