import type { Person } from '../../server/contract/person.ts'
import { atLeast, type Role } from '../../server/contract/role.ts'
import { nameOf } from '../person.ts'

/** A change of somebody's role. */
export interface RoleChange {
  readonly person: Person
  readonly role: Role
  /** Whether it is whoever asks. */
  readonly self: boolean
}

/** What a change of role does besides, sentence by sentence. */
export function sayRoleChange({ person, role, self }: RoleChange): string[] {
  const name = nameOf(person)
  const sessions =
    person.sessions === 0
      ? `No session of ${name} is open; the next one begins as ${role}.`
      : `${name}'s sessions end; ${name} signs in again as ${role}.`
  return [
    self ? `This is you: your sessions end, and you sign in again as ${role}.` : sessions,
    ...(atLeast(role, person.role)
      ? []
      : [`Tokens of ${self ? 'yours' : name} then do no more than ${article(role)} may.`]),
  ]
}

const article = (role: Role) => `${/^[aeiou]/.test(role) ? 'an' : 'a'} ${role}`
