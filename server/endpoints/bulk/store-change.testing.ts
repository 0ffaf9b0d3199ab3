import { ensureOperator } from '../../access/people.ts'
import type { Store } from '../../storage/store.ts'
import type { Tables } from '../../storage/tables.ts'

/** Stores a running bulk change without changes, whose lease has expired, except for `part`. */
export async function storeChange(
  store: Store,
  part: Partial<Tables['endpoint_changes']> & { readonly id: string },
): Promise<void> {
  const values = {
    state: 'running',
    actor: JSON.stringify({ name: 'local:operator', by: 'session', address: null }),
    person: await ensureOperator(store, 0),
    token: null,
    via: '',
    keep_on_failure: 0,
    changes: '[]',
    total: 1,
    removals: 0,
    made: 0,
    unchanged: 0,
    failed: 0,
    undo_of: null,
    undone_by: null,
    claimed_by: '',
    claimed_until: 0,
    created_at: 0,
    ended_at: null,
    ...part,
  }
  await store.db.insertInto('endpoint_changes').values(values).execute()
}
