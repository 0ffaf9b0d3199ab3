import type { EndpointRow } from '../endpoint-rows.ts'
import { sameMapping } from '../mapping.ts'
import type { WantedEndpoint } from './import-file.ts'

/** What an import does to one endpoint. */
export interface ImportChange {
  readonly kind: 'added' | 'changed' | 'removed'
  readonly address: string
  /** Its mapping now; `null` for one that is added. */
  readonly before: readonly string[] | null
  /** Its mapping afterwards; `null` for one that is removed. */
  readonly after: readonly string[] | null
  /** The revision that was compared: the server refuses if it has moved on (412). */
  readonly revision: number | undefined
}

/** What an import does, compared with what is configured now. */
export interface ImportPlan {
  /** In the order of the file; what is removed comes last. */
  readonly changes: readonly ImportChange[]
  /** The endpoints that are configured as the file has them already. */
  readonly unchanged: readonly string[]
  /** The endpoints that are not in the file; they stay unless `remove` was asked for. */
  readonly others: readonly string[]
}

/** Compares what a file asks for with what is configured. `remove`: what is not in it goes. */
export function planImport(
  wanted: readonly WantedEndpoint[],
  rows: readonly EndpointRow[],
  remove: boolean,
): ImportPlan {
  const configured = new Map(
    rows.flatMap((row) => (row.databases === null ? [] : [[row.address, row] as const])),
  )
  const changes: ImportChange[] = []
  const unchanged: string[] = []
  for (const { address, databases } of wanted) {
    const row = configured.get(address)
    const before = row?.databases ?? null
    configured.delete(address)
    if (before !== null && sameMapping(before, databases)) unchanged.push(address)
    else {
      const kind = before === null ? 'added' : 'changed'
      changes.push({ kind, address, before, after: databases, revision: row?.revision })
    }
  }
  if (remove) {
    for (const { address, databases: before, revision } of configured.values()) {
      changes.push({ kind: 'removed', address, before, after: null, revision })
    }
  }
  return { changes, unchanged, others: [...configured.keys()] }
}

/** How many changes of each kind there are. */
export function countChanges(changes: readonly ImportChange[]) {
  const count = (wanted: ImportChange['kind']) =>
    changes.filter(({ kind }) => kind === wanted).length
  return { added: count('added'), changed: count('changed'), removed: count('removed') }
}
