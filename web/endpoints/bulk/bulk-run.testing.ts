import type { BulkRun } from './bulk-store.ts'

/** Returns a bulk change that made all its 100 changes, with other values of some `fields`. */
export const bulkRun = (fields: Partial<BulkRun> = {}): BulkRun => ({
  id: 'x',
  kind: 'change',
  total: 100,
  removals: 0,
  made: 100,
  unchanged: 0,
  failures: [],
  done: [],
  end: 'completed',
  isRefetched: true,
  ...fields,
})
