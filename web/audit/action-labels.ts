import type { AuditAction } from '../../server/contract/audit/audit-action.ts'
import type { AuditNoun } from './activity-search.ts'

/** Labels of the actions, such as "Endpoint added". */
export const actionLabels: Readonly<Record<AuditAction, string>> = {
  'endpoint.add': 'Endpoint added',
  'endpoint.map': 'Mapping changed',
  'endpoint.remove': 'Endpoint removed',
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
  'secret.discard': 'Provider tokens deleted',
  'store.restore': 'Backup restored',
}

/** Labels of the groups of actions in the filter. */
export const nounLabels: Readonly<Record<AuditNoun, string>> = {
  endpoint: 'Endpoints',
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
