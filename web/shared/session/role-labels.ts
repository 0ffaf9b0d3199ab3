import type { Role } from '../../../server/contract/access/principal.ts'

/** Labels of the roles. */
export const roleLabels: Readonly<Record<Role, string>> = {
  none: 'Access removed',
  pending: 'No role yet',
  viewer: 'Viewer',
  operator: 'Operator',
  admin: 'Admin',
}
