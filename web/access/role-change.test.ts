import { expect, test } from 'vitest'
import type { Person } from '../../server/contract/person.ts'
import { sayRoleChange } from './role-change.ts'

const ada: Person = {
  id: '1',
  username: 'oidc:ada',
  name: 'Ada',
  provider: 'oidc',
  issuer: 'https://id.example',
  role: 'viewer',
  created: '2026-01-01T00:00:00Z',
  lastSignIn: null,
  sessions: 2,
}

test('a higher role ends the sessions', () => {
  expect(sayRoleChange({ person: ada, role: 'operator', self: false })).toEqual([
    "Ada's sessions end; Ada signs in again as operator.",
  ])
})

test('without a session there is nothing to end', () => {
  expect(sayRoleChange({ person: { ...ada, sessions: 0 }, role: 'admin', self: false })).toEqual([
    'No session of Ada is open; the next one begins as admin.',
  ])
})

test('a lower role holds for tokens too, also for oneself', () => {
  expect(
    sayRoleChange({ person: { ...ada, role: 'admin' }, role: 'operator', self: true }),
  ).toEqual([
    'This is you: your sessions end, and you sign in again as operator.',
    'Tokens of yours then do no more than an operator may.',
  ])
})
