import { expect, test } from 'vitest'
import type { Person } from '../../../server/contract/access/principal.ts'
import { formatRoleChange } from './role-dialog.tsx'

const ada: Person = {
  id: '1',
  username: 'oidc:ada',
  name: 'Ada',
  provider: 'oidc',
  issuer: 'https://id.example',
  role: 'viewer',
  databases: null,
  roleSource: null,
  created: '2026-01-01T00:00:00Z',
  lastSignIn: null,
  sessions: 2,
}

test('a higher role ends all sessions', () => {
  expect(formatRoleChange({ person: ada, role: 'operator', self: false })).toEqual([
    "Ada's sessions end. After signing in again, Ada has the operator role.",
  ])
})

test('a person without sessions gets the role at the next sign-in', () => {
  expect(formatRoleChange({ person: { ...ada, sessions: 0 }, role: 'admin', self: false })).toEqual(
    ['Ada is not signed in. The next session has the admin role.'],
  )
})

test('a lower role also limits tokens, including one’s own', () => {
  expect(
    formatRoleChange({ person: { ...ada, role: 'admin' }, role: 'operator', self: true }),
  ).toEqual([
    'This is your own role. Your sessions end, and you sign in again as operator.',
    'Your tokens are limited to the permissions of an operator.',
  ])
})

test('a role that groups have set is no longer changed by them', () => {
  const person: Person = { ...ada, roleSource: 'groups' }
  expect(formatRoleChange({ person, role: 'operator', self: false })[1]).toBe(
    "Ada's groups no longer change the role.",
  )
})

test('removed access ends sessions and tokens, and stops sign-in', () => {
  expect(formatRoleChange({ person: ada, role: 'none', self: false })).toEqual([
    "Ada's sessions and tokens end immediately on all nodes.",
    'Ada cannot sign in until an admin assigns them a role again.',
    'Revoked tokens stay revoked, so programs need new ones.',
  ])
  expect(formatRoleChange({ person: ada, role: 'none', self: true })[1]).toBe(
    'You cannot sign in until an admin assigns you a role again.',
  )
})

test('a role after removed access lets the person sign in', () => {
  expect(
    formatRoleChange({
      person: { ...ada, role: 'none', sessions: 0 },
      role: 'viewer',
      self: false,
    }),
  ).toEqual(['Ada can sign in again, as viewer.'])
})

test('without a role, tokens are rejected', () => {
  expect(formatRoleChange({ person: ada, role: 'pending', self: false })[1]).toBe(
    "Ada's tokens are rejected until a role is assigned again.",
  )
})
