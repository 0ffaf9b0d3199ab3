import type { AuditEntry, AuditPage, AuditQuery } from '../contract/audit.ts'
import type { Store } from '../storage/open.ts'
import { createTurns } from '../storage/turns.ts'
import { recordRefusal } from './record.ts'
import { readAuditPage } from './repository.ts'

/** What the application does with the audit log; changes record themselves. */
export interface AuditLog {
  /** See `repository.ts`. */
  page(query: AuditQuery): Promise<AuditPage>
  /** See `record.ts`. */
  recordRefusal(entry: AuditEntry): Promise<void>
}

/** Makes the {@link AuditLog} of a store. */
export function createAuditLog(store: Store): AuditLog {
  const nextTurn = createTurns()
  return {
    page: (query) => readAuditPage(store, query, nextTurn),
    recordRefusal: (entry) => recordRefusal(store, entry),
  }
}
