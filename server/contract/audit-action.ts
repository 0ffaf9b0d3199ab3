import * as z from 'zod/mini'

/** What is done to what: the closed list of audited actions. */
export const AUDIT_ACTIONS = [
  'endpoint.add',
  'endpoint.map',
  'endpoint.remove',
  'database.create',
  'database.drop',
  'session.begin',
  'session.end',
  'person.create',
  'person.role',
  'token.create',
  'token.revoke',
  'operator-key.renew',
  'secret.discard',
  'store.restore',
] as const

/** One of {@link AUDIT_ACTIONS}. */
export const auditAction = z.enum(AUDIT_ACTIONS)

/** {@link auditAction} as a type. */
export type AuditAction = z.infer<typeof auditAction>
