import * as z from 'zod/mini'

/** The closed list of audited actions. */
export const AUDIT_ACTIONS = [
  'endpoint.add',
  'endpoint.map',
  'endpoint.remove',
  'endpoint.change',
  'endpoint.change-cancel',
  'endpoint.change-undo',
  'policy.set',
  'policy.remove',
  'policy.confirm',
  'certificate.add',
  'certificate.replace',
  'certificate.remove',
  'database.create',
  'database.drop',
  'database.import',
  'collection.import',
  'collection.delete',
  'index.create',
  'index.drop',
  'feed.set',
  'feed.remove',
  'webhook.create',
  'webhook.change',
  'webhook.delete',
  'webhook.pause',
  'webhook.resume',
  'webhook.secret',
  'webhook.test',
  'webhook.retry',
  'schema.set',
  'schema.delete',
  'session.begin',
  'session.fail',
  'session.end',
  'person.create',
  'person.role',
  'provider.add',
  'provider.change',
  'provider.remove',
  'provider.test',
  'invitation.create',
  'invitation.delete',
  'invitation.accept',
  'token.create',
  'token.revoke',
  'operator-key.renew',
  'secret.discard',
  'store.restore',
] as const

/** The actions that change one endpoint; their rows contain its mapping before and after. */
export const MAPPING_CHANGES: readonly string[] = [
  'endpoint.add',
  'endpoint.map',
  'endpoint.remove',
]

/** The actions that change one database; their targets begin with its name. */
export const DATABASE_CHANGES: readonly AuditAction[] = AUDIT_ACTIONS.filter((action) =>
  ['database', 'collection', 'index', 'schema', 'feed'].includes(action.split('.')[0] as string),
)

/** The actions whose rows are written at their end, with the number of documents. */
export const COUNTED_ACTIONS = [
  'database.import',
  'collection.import',
  'collection.delete',
] as const

/** The actions that change the policy of an endpoint; their rows contain it before and after. */
export const POLICY_CHANGES: readonly string[] = ['policy.set', 'policy.remove']

/** The actions whose changes can be undone. */
export const ENDPOINT_CHANGES: readonly string[] = [...MAPPING_CHANGES, ...POLICY_CHANGES]

/** Returns whether a row of the audit log is a change of an endpoint that can be undone. */
export const isRestorable = ({
  action,
  outcome,
}: {
  action: AuditAction
  outcome: string
}): boolean => outcome === 'done' && ENDPOINT_CHANGES.includes(action)

export const auditAction = z.enum(AUDIT_ACTIONS)

export type AuditAction = z.infer<typeof auditAction>
