import * as z from 'zod/mini'
import type { AuditRow } from '../../../server/contract/audit.ts'

/** A row, or a bulk change with its changes. */
export interface ActivityEntry {
  readonly row: AuditRow
  /** The changes of a bulk change that are loaded, newest first; empty for a single row. */
  readonly changes: readonly AuditRow[]
}

const isBulk = ({ action }: AuditRow) => action.startsWith('endpoint.change')

/** Returns whether a bulk change has one change, or none of its rows is the bulk change itself. */
const isOfOne = (bulk: AuditRow | undefined) =>
  bulk === undefined ||
  (bulk.action === 'endpoint.change' && isSingle.safeParse(bulk.after).success)

const isSingle = z.object({ changes: z.literal(1) })

/** Groups the rows of each bulk change, in the place of its newest row. */
export function groupChanges(rows: readonly AuditRow[]): ActivityEntry[] {
  const groups = Map.groupBy(rows, ({ change, seq }) => change ?? seq)
  return [...groups.values()].flatMap((group): ActivityEntry[] => {
    const changes = group.filter((row) => !isBulk(row))
    const bulk = group.find(isBulk)
    const [newest, oldest] = [changes[0], changes.at(-1)]
    if (newest === undefined || oldest === undefined) return bulk ? [{ row: bulk, changes }] : []
    // The console changes a single endpoint in bulk too.
    if (isOfOne(bulk)) {
      if (changes.length === 1) return [{ row: newest, changes: [] }]
      // Its first change says what was done: an endpoint is added before it gets its policy.
      if (bulk !== undefined) return [{ row: { ...oldest, seq: bulk.seq }, changes }]
    }
    // People who are limited to databases do not see the row of the bulk change itself, which is
    // the oldest of its rows. Others may not have loaded it yet.
    const unseen = oldest === rows.at(-1) ? null : { changes: changes.length, removals: 0 }
    return [{ row: bulk ?? { ...newest, action: 'endpoint.change', after: unseen }, changes }]
  })
}
