import type { AuditEntry } from '../contract/audit.ts'
import type { Store } from '../storage/store.ts'
import type { AuditSearch } from './find-rows.ts'
import { recordRejection } from './record.ts'
import { type PrintedAuditPage, type ReservePage, readAuditPage } from './repository.ts'

/**
 * Reads the audit log and records rejected changes. Completed changes are recorded in their own
 * transactions.
 */
export interface AuditLog {
  /** Returns a page of the log. See `repository.ts`. */
  page(search: AuditSearch, reserve: ReservePage): Promise<PrintedAuditPage>
  /** Records a rejected change. See `record.ts`. */
  recordRejection(entry: AuditEntry): Promise<void>
}

export function createAuditLog(store: Store): AuditLog {
  return {
    page: (search, reserve) => readAuditPage(store, search, reserve),
    recordRejection: (entry) => recordRejection(store, entry),
  }
}
