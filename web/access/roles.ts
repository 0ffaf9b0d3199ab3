import type { Role } from '../../server/contract/access/principal.ts'
import type { TokenInput } from '../../server/contract/access/token.ts'

/** One sentence for each role that says what it allows. */
export const roleDescriptions: Readonly<Record<Role, string>> = {
  none: 'Cannot sign in.',
  pending: 'No access until an admin assigns a role.',
  viewer: 'Can read endpoints, databases, documents and activity.',
  editor: 'Can read everything that viewers can, and change documents, indexes and schemas.',
  operator: 'Can read and change endpoints, databases and documents.',
  admin: 'Can do everything, including managing people and their tokens.',
}

/** Returns the databases of a person without access, in words; undefined for other roles. */
export const withoutDatabases = (role: Role): string | undefined =>
  role === 'pending' ? 'None yet' : role === 'none' ? 'None' : undefined

/** Roles that a token can have. */
export const tokenRoles: readonly TokenInput['role'][] = ['viewer', 'editor', 'operator', 'admin']
