import type { AuditRow } from '../../server/contract/audit.ts'

/** A row, or a bulk change with its changes. */
export interface ActivityEntry {
  readonly row: AuditRow
  /** The changes of a bulk change that are loaded, newest first; empty for a single row. */
  readonly changes: readonly AuditRow[]
}

const isBulk = ({ action }: AuditRow) => action.startsWith('endpoint.change')

/** Groups the rows of each bulk change, in the place of its newest row. */
export function groupChanges(rows: readonly AuditRow[]): ActivityEntry[] {
  const groups = Map.groupBy(rows, ({ change, seq }) => change ?? seq)
  return [...groups.values()].flatMap((group): ActivityEntry[] => {
    const [newest] = group
    if (newest === undefined) return []
    const changes = group.filter((row) => !isBulk(row))
    if (changes.length < 2) return group.map((row) => ({ row, changes: [] }))
    // People who are limited to databases do not see the row of the bulk change itself.
    const unseen = { changes: changes.length, removals: 0 }
    const bulk = group.find(isBulk) ?? { ...newest, action: 'endpoint.change', after: unseen }
    return [{ row: bulk, changes }]
  })
}
