import type { EndpointRow } from '../model/endpoint-rows.ts'
import { sameMapping } from '../model/mapping.ts'
import type { WantedEndpoint } from './file/import-file.ts'

/** The change of an import to one endpoint. */
export interface ImportChange {
  readonly kind: 'added' | 'changed' | 'removed'
  readonly address: string
  /** The mapping before the change; `null` if the endpoint is added. */
  readonly before: readonly string[] | null
  /** The mapping after the change; `null` if the endpoint is removed. */
  readonly after: readonly string[] | null
  /** The compared revision. The server responds with 412 if the endpoint has another one. */
  readonly revision: number | undefined
}

/** The difference between an import file and the configuration. */
export interface ImportPlan {
  /** In file order, removals last. */
  readonly changes: readonly ImportChange[]
  /** Addresses of the endpoints that already match the file. */
  readonly unchanged: readonly string[]
  /** Addresses of the endpoints not in the file. They are kept unless `remove` is set. */
  readonly others: readonly string[]
}

/**
 * Compares an import file with the configuration. `remove` also removes the endpoints that are not
 * in the file.
 */
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

/** Counts the changes of each kind. */
export function countChanges(changes: readonly ImportChange[]) {
  const count = (wanted: ImportChange['kind']) =>
    changes.filter(({ kind }) => kind === wanted).length
  return { added: count('added'), changed: count('changed'), removed: count('removed') }
}
