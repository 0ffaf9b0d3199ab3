import type { AuditRow } from '../../server/contract/audit.ts'
import type { AuditAction } from '../../server/contract/audit-action.ts'
import type { AuditNoun } from './activity-search.ts'

/** Labels of the actions, such as "Endpoint added". */
export const actionLabels: Readonly<Record<AuditAction, string>> = {
  'endpoint.add': 'Endpoint added',
  'endpoint.map': 'Mapping changed',
  'endpoint.remove': 'Endpoint removed',
  'policy.set': 'Policy changed',
  'policy.remove': 'Policy removed',
  'policy.confirm': 'Policy kept after a trial',
  'certificate.add': 'Certificate added',
  'certificate.replace': 'Certificate replaced',
  'certificate.remove': 'Certificate deleted',
  'endpoint.change': 'Bulk change started',
  'endpoint.change-cancel': 'Bulk change cancelled',
  'endpoint.change-undo': 'Bulk change undone',
  'database.create': 'Database created',
  'database.drop': 'Database dropped',
  'database.import': 'Database imported',
  'index.create': 'Index created',
  'index.drop': 'Index deleted',
  'schema.set': 'Schema set',
  'schema.delete': 'Schema deleted',
  'session.begin': 'Signed in',
  'session.fail': 'Sign-in failed',
  'session.end': 'Session ended',
  'person.create': 'First sign-in',
  'person.role': 'Role changed',
  'token.create': 'Token created',
  'token.revoke': 'Token revoked',
  'operator-key.renew': 'Operator key renewed',
  'secret.discard': 'Stored secrets deleted',
  'store.restore': 'Backup restored',
}

/** Labels of rejected actions, such as "Create token". Others are never rejected. */
const attemptLabels: Readonly<Partial<Record<AuditAction, string>>> = {
  // The server rejects some requests before it knows which of the two they are.
  'endpoint.add': 'Add or map endpoint',
  'endpoint.map': 'Change mapping',
  'endpoint.remove': 'Remove endpoint',
  'policy.set': 'Change policy',
  'policy.remove': 'Remove policy',
  'policy.confirm': 'Keep policy',
  'certificate.add': 'Add certificate',
  'certificate.replace': 'Replace certificate',
  'certificate.remove': 'Delete certificate',
  'endpoint.change': 'Start bulk change',
  'endpoint.change-cancel': 'Cancel bulk change',
  'endpoint.change-undo': 'Undo bulk change',
  'database.create': 'Create database',
  'database.drop': 'Drop database',
  'database.import': 'Import database',
  'index.create': 'Create index',
  'index.drop': 'Delete index',
  'schema.set': 'Set schema',
  'schema.delete': 'Delete schema',
  'session.begin': 'Sign in',
  'session.fail': 'Sign in',
  'session.end': 'End session',
  'person.role': 'Change role',
  'token.create': 'Create token',
  'token.revoke': 'Revoke token',
}

/** Returns what a row records: an action, or an attempt that was rejected. */
export const labelOfRow = ({ action, outcome }: Pick<AuditRow, 'action' | 'outcome'>): string =>
  (outcome === 'refused' ? attemptLabels[action] : undefined) ?? actionLabels[action]

/** Labels of the groups of actions in the filter. */
export const nounLabels: Readonly<Record<AuditNoun, string>> = {
  endpoint: 'Endpoints',
  policy: 'Policies',
  certificate: 'Certificates',
  database: 'Databases',
  index: 'Indexes',
  schema: 'Schemas',
  session: 'Sessions',
  person: 'People',
  token: 'Tokens',
  'operator-key': 'Operator key',
  secret: 'Provider tokens',
  store: 'Backups',
}
