import type { Actor, AuditEntry } from '../contract/audit.ts'
import type { Change } from './transactions.ts'

/**
 * Puts a change on record in the change's own transaction: if the record cannot be written, the
 * change does not happen either. Repositories of administrative data are given one.
 */
export type Recorder = (trx: Change, entry: AuditEntry) => Promise<void>

/** What a repository needs to put its change on record. */
export interface OnRecord {
  readonly record: Recorder
  /** Who changes it. */
  readonly actor: Actor
}
