import * as z from 'zod/mini'
import { AUDIT_ACTIONS, type AuditAction, auditAction } from './audit-action.ts'

/** A row of the audit log. */
export const auditRow = z.object({
  seq: z.number(),
  at: z.string().check(z.describe('ISO 8601, UTC')),
  actor: z.string().check(z.describe('a username, command-line, or a part of the system')),
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

/** Of an action, what stands before the dot: `endpoint`. */
const nouns = [...new Set(AUDIT_ACTIONS.map((action) => action.split('.')[0] as string))]

const time = z
  .union(
    [z.iso.datetime({ offset: true }), z.iso.date()],
    'an ISO 8601 time with its zone, or a day',
  )
  .check(z.describe('ISO 8601; a day begins at midnight UTC'))

const count = (greatest: number) => {
  const rule = `a whole number from 1 to ${greatest}`
  return z.pipe(
    z.string().check(z.regex(/^[1-9][0-9]{0,15}$/, rule)),
    z.pipe(z.transform(Number), z.number().check(z.lte(greatest, rule))),
  )
}

/** Query of `GET /_api/audit`; every part may be left out. */
export const auditQuery = z.object({
  who: z.optional(
    z.string().check(z.maxLength(256), z.describe('how the actor begins, in either case')),
  ),
  what: z.optional(
    z
      .enum([...nouns, ...AUDIT_ACTIONS], 'an action, or what stands before its dot')
      .check(z.describe('an action, or what stands before its dot: endpoint')),
  ),
  which: z.optional(
    z.string().check(z.maxLength(512), z.describe('exactly what was changed: an address, a name')),
  ),
  from: z.optional(time.check(z.describe('the earliest time'))),
  to: z.optional(time.check(z.describe('rows before this time only'))),
  before: z.optional(count(Number.MAX_SAFE_INTEGER)),
  limit: z.optional(count(500).check(z.describe('how many rows at most: 50 unless given'))),
})

/** {@link auditQuery} as a type, as it is understood. */
export type AuditQuery = z.output<typeof auditQuery>

/**
 * Answer of `GET /_api/audit`, newest first. A page whose search looked at 20,000 rows, or whose rows
 * take 4 MiB, ends there: it may be short or empty, and has a next one.
 */
export const auditPage = z.object({
  rows: z.array(auditRow),
  next: z.nullable(
    z.number().check(z.describe('send it as `before` for the next page; null: the log ends here')),
  ),
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
  /**
   * JSON values; null where there was or is nothing. Never a secret. Of a refused change `after` is
   * the reason: `{ refused: 'conflict' }`.
   */
  readonly before: unknown
  readonly after: unknown
}
