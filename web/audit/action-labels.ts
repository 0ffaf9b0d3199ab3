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
  'endpoint.change': 'Bulk change started',
  'endpoint.change-cancel': 'Bulk change cancelled',
  'endpoint.change-undo': 'Bulk change undone',
  'database.create': 'Database created',
  'database.drop': 'Database dropped',
  'database.import': 'Database imported',
  'index.create': 'Index created',
  'index.drop': 'Index deleted',
  'feed.set': 'Feed turned on or changed',
  'feed.remove': 'Feed turned off',
  'webhook.create': 'Webhook created',
  'webhook.change': 'Webhook changed',
  'webhook.delete': 'Webhook deleted',
  'webhook.pause': 'Webhook paused',
  'webhook.resume': 'Webhook resumed',
  'webhook.secret': 'Secret of webhook renewed',
  'webhook.test': 'Test of webhook sent',
  'webhook.retry': 'Delivery of webhook repeated',
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

/** Labels of rejected actions, such as "Create token". Others are never rejected. */
const attemptLabels: Readonly<Partial<Record<AuditAction, string>>> = {
  // The server rejects some requests before it knows which of the two they are.
  'endpoint.add': 'Add or map endpoint',
  'endpoint.map': 'Change mapping',
  'endpoint.remove': 'Remove endpoint',
  'policy.set': 'Change policy',
  'policy.remove': 'Remove policy',
  'policy.confirm': 'Keep policy',
  'endpoint.change': 'Start bulk change',
  'endpoint.change-cancel': 'Cancel bulk change',
  'endpoint.change-undo': 'Undo bulk change',
  'database.create': 'Create database',
  'database.drop': 'Drop database',
  'database.import': 'Import database',
  'index.create': 'Create index',
  'index.drop': 'Delete index',
  'feed.set': 'Turn on or change feed',
  'feed.remove': 'Turn off feed',
  'webhook.create': 'Create webhook',
  'webhook.change': 'Change webhook',
  'webhook.delete': 'Delete webhook',
  'webhook.pause': 'Pause webhook',
  'webhook.resume': 'Resume webhook',
  'webhook.secret': 'Renew secret of webhook',
  'webhook.test': 'Test webhook',
  'webhook.retry': 'Repeat delivery of webhook',
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
  database: 'Databases',
  index: 'Indexes',
  schema: 'Schemas',
  feed: 'Feeds',
  webhook: 'Webhooks',
  session: 'Sessions',
  person: 'People',
  token: 'Tokens',
  'operator-key': 'Operator key',
  secret: 'Provider tokens',
  store: 'Backups',
}
