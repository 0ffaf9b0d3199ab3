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
] as const

/** One of {@link AUDIT_ACTIONS}. */
export const auditAction = z.enum(AUDIT_ACTIONS)

/** {@link auditAction} as a type. */
export type AuditAction = z.infer<typeof auditAction>

/** A row of the audit log. */
export const auditRow = z.object({
  seq: z.number(),
  at: z.string().check(z.describe('ISO 8601, UTC')),
  actor: z.string().check(z.describe('a username, or command-line')),
  by: z.enum(['session', 'token', 'command-line', 'system']),
  address: z.nullable(z.string().check(z.describe('where the request came from'))),
  action: auditAction,
  target: z.string(),
  outcome: z.enum(['done', 'refused']),
  before: z.unknown(),
  after: z.unknown(),
  hash: z.string(),
})

/** {@link auditRow} as a type. */
export type AuditRow = z.infer<typeof auditRow>

/** Answer of `GET /_api/audit?who=&what=&from=&to=&before=&limit=`, newest first. */
export const auditPage = z.object({
  rows: z.array(auditRow),
  next: z.nullable(z.number().check(z.describe('send it as `before` for the next page'))),
})

/** {@link auditPage} as a type. */
export type AuditPage = z.infer<typeof auditPage>

/** Who changes something, as the audit log names it. */
export interface Actor {
  /** A username; for a token its owner's; `command-line`; or a system's part. */
  readonly name: string
  readonly by: AuditRow['by']
  /** Where the request came from; null: from this machine's own command line. */
  readonly address: string | null
}

/** What is put on record of a change: the log adds when, and the chain. */
export interface AuditEntry {
  readonly actor: Actor
  readonly action: AuditAction
  /** What was changed: an address, a name, a username. Never a secret. */
  readonly target: string
  readonly outcome: AuditRow['outcome']
  /** JSON values; null where there was or is nothing. Never a secret. */
  readonly before: unknown
  readonly after: unknown
}
