import type { AuditEntry } from '../contract/audit.ts'
import type { Store } from '../storage/store.ts'
import { createRecorder } from './record.ts'

/** Returns an entry for a created database, with the given fields replaced. */
export const entry = (over: Partial<AuditEntry> = {}): AuditEntry => ({
  actor: { name: 'github:1', by: 'session', address: '192.0.2.7' },
  action: 'database.create',
  target: 'blog',
  outcome: 'done',
  before: null,
  after: {},
  ...over,
})

/** Records each entry in its own transaction, in order. */
export async function recordAll(
  store: Store,
  entries: readonly AuditEntry[],
  record = createRecorder(),
): Promise<void> {
  for (const one of entries) await store.change((trx) => record(trx, one))
}

/** Returns what the log says of each change, in order. */
export const recordedChanges = (store: Store) =>
  store.db
    .selectFrom('audit')
    .select(['actor', 'action', 'target', 'outcome', 'before', 'after'])
    .orderBy('seq')
    .execute()
