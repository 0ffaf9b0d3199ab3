import { atLeast, type Role } from '../../../server/contract/access/principal.ts'
import { hasRole, type SignedIn, usePresence } from '../../api/session/person.ts'

/** Labels of the roles. */
export const roleLabels: Readonly<Record<Role, string>> = {
  none: 'Access removed',
  pending: 'No role yet',
  viewer: 'Viewer',
  editor: 'Editor',
  operator: 'Operator',
  admin: 'Admin',
}

/** Returns a role with its article, such as "an editor". */
export const withArticle = (role: Role): string => `${/^[aeiou]/.test(role) ? 'an' : 'a'} ${role}`

/** Returns the role of a person, such as "an editor". */
export function describeRole(person: SignedIn): string {
  const isLimited = atLeast(person.role, 'operator') && !hasRole(person, 'operator')
  return withArticle(person.role) + (isLimited ? ' without access to _system' : '')
}

/** Returns the role of the signed-in person as a clause, such as "You are a viewer". */
export const useOwnRole = (): string => `You are ${describeRole(usePresence().person)}`
