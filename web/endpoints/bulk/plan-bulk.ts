import { SYSTEM_DATABASE } from '../../../server/contract/database.ts'
import { isAdminAccess } from '../model/admin-access.ts'
import type { EndpointRow } from '../model/endpoint-rows.ts'
import { reaches } from '../model/mapping.ts'
import type { BulkAction } from '../table/selection-bar.tsx'

export interface BulkTask {
  readonly row: EndpointRow
  /** The new mapping; null removes the endpoint. */
  readonly after: readonly string[] | null
}

/** An endpoint that is not changed. */
export interface Kept {
  readonly address: string
  readonly why: string
  /** Whether it is already in the wanted state. */
  readonly fine: boolean
}

export interface BulkPlan {
  readonly tasks: readonly BulkTask[]
  readonly kept: readonly Kept[]
}

export interface BulkFacts {
  readonly action: BulkAction
  /** The database to add or take out. */
  readonly name: string
  readonly rows: readonly EndpointRow[]
  /** The selected addresses. */
  readonly selected: ReadonlySet<string>
  /** Address of the endpoint that serves this page. */
  readonly here: string | undefined
}

/**
 * Plans a bulk change. The last database is never taken out of a mapping, because an empty mapping
 * means all databases.
 */
export function planBulk(facts: BulkFacts): BulkPlan {
  const { rows, selected, here } = facts
  const chosen = rows.filter(
    ({ address, databases }) => databases !== null && selected.has(address),
  )
  const checked = chosen.map((row) => check(facts, row))
  const kept = checked.flatMap((one) => ('why' in one ? one : []))
  const tasks = checked.flatMap((one) => ('row' in one ? one : []))

  // Keep one endpoint that serves `_system`, preferably the one that serves this page. Without it,
  // no one could sign in.
  const closed = new Set(tasks.filter(closes).map(({ row }) => row.address))
  const waysIn = rows.filter(isAdminAccess)
  const left = waysIn.filter(({ address }) => !closed.has(address))
  if (waysIn.length > 0 && left.length === 0) {
    const last = waysIn.find(({ address }) => address === here) ?? waysIn[0]
    const staying = tasks.findIndex(({ row }) => row === last)
    if (last !== undefined && staying >= 0) {
      tasks.splice(staying, 1)
      kept.push({ address: last.address, why: LAST_WAY_IN, fine: false })
      closed.delete(last.address)
    }
  }
  return { tasks, kept }
}

function check({ action, name }: BulkFacts, row: EndpointRow): BulkTask | Kept {
  const { address } = row
  const mapping = row.databases ?? []
  const task = (after: readonly string[] | null): BulkTask => ({ row, after })
  const keep = (why: string, fine = false): Kept => ({ address, why, fine })
  if (action === 'remove') return task(null)
  if (action === 'add') {
    if (mapping.length === 0) return keep('Already serves all databases.', true)
    if (mapping.includes(name)) return keep(`Already serves ${name}.`, true)
    return task([...mapping, name])
  }
  if (mapping.length === 0) {
    return keep('Serves all databases. Choose specific databases in its mapping first.')
  }
  if (!mapping.includes(name)) return keep(`Does not serve ${name}.`, true)
  if (mapping.length === 1) {
    return keep(
      `${name} is its only database. Without it, the endpoint would serve all databases. Change its mapping or remove it instead.`,
    )
  }
  return task(mapping.filter((each) => each !== name))
}

/** Returns whether a task makes the console unreachable through its endpoint. */
const closes = ({ row, after }: BulkTask): boolean =>
  reaches(row.databases ?? [], SYSTEM_DATABASE) &&
  (after === null || !reaches(after, SYSTEM_DATABASE))

const LAST_WAY_IN =
  'Without it, no one could sign in, because no other endpoint serves _system. Add another one first.'
