import { ROLES, type Role } from '../../server/contract/role.ts'

/** A role as the word for it, at the beginning of a line. */
export const roleWords: Readonly<Record<Role, string>> = {
  pending: 'No role',
  viewer: 'Viewer',
  operator: 'Operator',
  admin: 'Admin',
}

/** What whoever has a role may do: a sentence. */
export const roleSentences: Readonly<Record<Role, string>> = {
  pending: 'Sees nothing but that a role is awaited.',
  viewer: 'Reads everything, and changes nothing.',
  operator: 'Reads everything, and changes endpoints, databases and documents.',
  admin: 'Does all that an operator does, and decides on people, tokens of others and providers.',
}

/** The roles that can be given to people. */
export const givenRoles: readonly Exclude<Role, 'pending'>[] = ROLES.filter(
  (role) => role !== 'pending',
)
