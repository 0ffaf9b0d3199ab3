import type { AuditAction } from '../../server/contract/audit-action.ts'

/** Each action as what was done: "Endpoint added". */
export const actionWords: Readonly<Record<AuditAction, string>> = {
  'endpoint.add': 'Endpoint added',
  'endpoint.map': 'Endpoint mapped anew',
  'endpoint.remove': 'Endpoint removed',
  'database.create': 'Database created',
  'database.drop': 'Database dropped',
  'session.begin': 'Signed in',
  'session.end': 'Session ended',
  'person.create': 'First sign-in',
  'person.role': 'Role changed',
  'token.create': 'Token made',
  'token.revoke': 'Token revoked',
  'operator-key.renew': 'Operator key renewed',
  'secret.discard': 'Provider tokens deleted',
  'store.restore': 'Backup restored',
}

/** All actions of a noun, as a filter offers them. */
export const nounWords: Readonly<Record<string, string>> = {
  endpoint: 'Endpoints',
  database: 'Databases',
  session: 'Sessions',
  person: 'People',
  token: 'Tokens',
  'operator-key': 'Operator key',
  secret: 'Provider tokens',
  store: 'Backups',
}
