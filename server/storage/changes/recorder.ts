import type { AuditEntry } from '../../contract/audit.ts'
import type { Caller } from './begin-change.ts'
import type { Change } from './transactions.ts'

/**
 * Writes audit entries in the transaction of a change. If an entry cannot be written, the change is
 * rolled back. Used by the repositories of administrative data.
 */
export type Recorder = (trx: Change, ...entries: readonly AuditEntry[]) => Promise<void>

export interface OnRecord {
  readonly record: Recorder
  /** The person or token that makes the change. */
  readonly actor: Caller
}

/** An audited change of one object. `target` names the object in the audit log. */
export interface OnTargetRecord extends OnRecord {
  readonly target: string
}
