import * as z from 'zod/mini'
import { AUDIT_ACTIONS, type AuditAction, auditAction } from './audit-action.ts'
import { isoTime } from './iso-time.ts'
import { wholeNumber } from './query/query-parameter.ts'

const outcome = z.enum(['done', 'refused'])

/** A row of the audit log. */
export const auditRow = z.object({
  seq: z.int(),
  at: z.string().check(z.describe('ISO 8601, UTC')),
  actor: z.string().check(z.describe('a username, command-line, or a component of the server')),
  actorName: z
    .nullable(z.string())
    .check(z.describe('the present name of the person with that username')),
  by: z.enum(['session', 'token', 'command-line', 'system']),
  token: z
    .nullable(z.string())
    .check(z.describe('the name of the token that the request was made with')),
  address: z.nullable(z.string().check(z.describe('where the request came from'))),
  action: auditAction,
  target: z.string(),
  targetName: z
    .nullable(z.string())
    .check(z.describe('the name of the person who is the target, or their username')),
  outcome,
  before: z.unknown(),
  after: z.unknown(),
  change: z
    .nullable(z.string())
    .check(z.describe('the id of the bulk change that it belongs to, or null')),
  hash: z.string(),
})

export type AuditRow = z.infer<typeof auditRow>

/** The part of each action before the dot, such as `endpoint`. */
const nouns = [...new Set(AUDIT_ACTIONS.map((action) => action.split('.')[0] as string))]

const time = isoTime.check(z.describe('ISO 8601; a date begins at midnight UTC'))

// PostgreSQL cannot store it.
const noNul = z.refine<string>((text) => !text.includes('\0'), 'must not contain U+0000')

/** Query of `GET /_api/audit`; all fields are optional. */
export const auditQuery = z.object({
  who: z.optional(
    z
      .string()
      .check(
        z.maxLength(256),
        noNul,
        z.describe('a part of the actor, their name, or the name of the token; case-insensitive'),
      ),
  ),
  what: z.optional(
    z
      .enum([...nouns, ...AUDIT_ACTIONS], 'an action, or the part before its dot')
      .check(z.describe('an action, or the part before its dot, such as endpoint')),
  ),
  which: z.optional(
    z
      .string()
      .check(
        z.maxLength(512),
        noNul,
        z.describe('the exact target of the change, such as an address or a name'),
      ),
  ),
  outcome: z.optional(outcome.check(z.describe('done, or refused for rejected changes'))),
  change: z.optional(
    z
      .string()
      .check(z.maxLength(64), noNul, z.describe('the id of a bulk change; returns only its rows')),
  ),
  from: z.optional(time.check(z.describe('the earliest time'))),
  to: z.optional(time.check(z.describe('the time before which the rows were written'))),
  before: z.optional(wholeNumber(1, Number.MAX_SAFE_INTEGER)),
  limit: z.optional(
    wholeNumber(1, 500).check(z.describe('the maximum number of rows; 50 by default')),
  ),
})

/** The parsed query. */
export type AuditQuery = z.output<typeof auditQuery>

/**
 * Response of `GET /_api/audit`, newest first. A page ends after 20,000 searched rows or 4 MiB: it
 * may be short or empty and still have a next page.
 */
export const auditPage = z.object({
  rows: z.array(auditRow),
  next: z.nullable(
    z.int().check(z.describe('the value of `before` for the next page; null on the last page')),
  ),
})

export type AuditPage = z.infer<typeof auditPage>

/** The author of a change, as the audit log names it. */
export const actor = z.readonly(
  z.object({
    /** A username; for a token its owner's username; `command-line`; or a part of the system. */
    name: z.string(),
    by: auditRow.shape.by,
    /** The name of the token that the request was made with. */
    token: z.optional(z.string()),
    /** The client address; null: this machine's command line. */
    address: z.nullable(z.string()),
  }),
)

export type Actor = z.infer<typeof actor>

/** The data of an audit row, without its time and hash, which the log adds. */
export interface AuditEntry {
  readonly actor: Actor
  readonly action: AuditAction
  /** What was changed: an address, a name, a username. Never a secret. */
  readonly target: string
  readonly outcome: AuditRow['outcome']
  /**
   * JSON values; null if nothing existed before or after. Never a secret. For a rejected change,
   * `after` is the reason: `{ refused: 'conflict' }`.
   */
  readonly before: unknown
  readonly after: unknown
  /** The id of the bulk change that this change belongs to. */
  readonly change?: string | undefined
}
