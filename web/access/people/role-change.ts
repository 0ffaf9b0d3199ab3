import { atLeast, type Person, type Role } from '../../../server/contract/access/principal.ts'
import { nameOf } from '../../api/session/person.ts'

export interface RoleChange {
  readonly person: Person
  readonly role: Role
  /** Whether admins change their own role. */
  readonly self: boolean
}

/** Returns the consequences of a role change, one sentence each. */
export function formatRoleChange({ person, role, self }: RoleChange): string[] {
  const name = self ? 'You' : nameOf(person)
  const possessive = self ? 'Your' : `${nameOf(person)}'s`
  if (role === 'none') {
    return [
      `${possessive} sessions and tokens end immediately on all nodes.`,
      `${name} cannot sign in until an admin assigns ${self ? 'you' : 'them'} a role again.`,
      'Revoked tokens stay revoked, so programs need new ones.',
    ]
  }
  if (person.role === 'none') return [`${name} can sign in again, as ${role}.`]
  const sessions =
    person.sessions === 0
      ? `${name} is not signed in. The next session has the ${role} role.`
      : `${possessive} sessions end. After signing in again, ${name} has the ${role} role.`
  const tokens =
    role === 'pending'
      ? `${possessive} tokens are rejected until a role is assigned again.`
      : `${possessive} tokens are limited to the permissions of ${article(role)}.`
  return [
    self ? `This is your own role. Your sessions end, and you sign in again as ${role}.` : sessions,
    ...(atLeast(role, person.role) ? [] : [tokens]),
  ]
}

const article = (role: Role) => `${/^[aeiou]/.test(role) ? 'an' : 'a'} ${role}`
