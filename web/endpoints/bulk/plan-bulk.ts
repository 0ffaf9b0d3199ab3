import type { Policy } from '../../../server/contract/endpoints/policy.ts'
import type { PolicyChange } from '../guard/check-changes.ts'
import { isAdminAccess, servesConsole } from '../model/admin-access.ts'
import type { EndpointRow } from '../model/endpoint-rows.ts'
import type { BulkAction } from '../model/selection.ts'

export interface BulkTask {
  readonly row: EndpointRow
  /** The new mapping; null removes the endpoint. */
  readonly after: readonly string[] | null
  /** The change of its policy, if it turns the endpoint on or off. */
  readonly policy?: PolicyChange
}

/** An endpoint that is not changed. */
export interface SkippedEndpoint {
  readonly address: string
  readonly reason: string
  /** Whether it is already in the wanted state. */
  readonly isUnchanged: boolean
}

export interface BulkPlan {
  readonly tasks: readonly BulkTask[]
  readonly skipped: readonly SkippedEndpoint[]
}

export interface BulkPlanInput {
  readonly action: BulkAction
  /** The database to add or take out. */
  readonly name: string
  readonly rows: readonly EndpointRow[]
  /** The selected addresses. */
  readonly selected: ReadonlySet<string>
  /** Address of the endpoint that serves this page. */
  readonly here: string
}

/**
 * Plans a bulk change. The last database is never taken out of a mapping, because an empty mapping
 * means all databases.
 */
export function planBulk(input: BulkPlanInput): BulkPlan {
  const { rows, selected, here } = input
  const chosen = rows.filter(
    ({ address, databases }) => databases !== null && selected.has(address),
  )
  const checked = chosen.map((row) => check(input, row))
  const skipped = checked.flatMap((one) => ('reason' in one ? one : []))
  const tasks = checked.flatMap((one) => ('row' in one ? one : []))

  // Keep one endpoint that serves `_system`, preferably the one that serves this page. Without it,
  // no one could sign in.
  const closed = new Set(tasks.filter(removesAdminAccess).map(({ row }) => row.address))
  const adminEndpoints = rows.filter(isAdminAccess)
  const left = adminEndpoints.filter(({ address }) => !closed.has(address))
  if (adminEndpoints.length > 0 && left.length === 0) {
    const last = adminEndpoints.find(({ address }) => address === here) ?? adminEndpoints[0]
    const staying = tasks.findIndex(({ row }) => row === last)
    if (last !== undefined && staying >= 0) {
      tasks.splice(staying, 1)
      skipped.push({ address: last.address, reason: LAST_ADMIN_ACCESS, isUnchanged: false })
      closed.delete(last.address)
    }
  }
  return { tasks, skipped }
}

function check({ action, name }: BulkPlanInput, row: EndpointRow): BulkTask | SkippedEndpoint {
  const { address } = row
  const mapping = row.databases ?? []
  const task = (after: readonly string[] | null): BulkTask => ({ row, after })
  const keep = (reason: string, isUnchanged = false): SkippedEndpoint => ({
    address,
    reason,
    isUnchanged,
  })
  if (action === 'remove') return task(null)
  if (action === 'turn-off' || action === 'turn-on') {
    const { policy } = row
    if (policy === undefined) return keep('Its rules are not known yet. Try again.')
    const isOff = policy?.enabled === false
    if (isOff === (action === 'turn-off')) return keep(`Already ${isOff ? 'off' : 'on'}.`, true)
    return { ...task(mapping), policy: { before: policy, after: turn(policy, isOff) } }
  }
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

/** Returns a policy that turns an endpoint on or off; null if only the defaults are left. */
function turn(policy: Policy | null, on: boolean): Policy | null {
  const { enabled: _, ...rest } = policy ?? {}
  if (!on) return { ...rest, enabled: false }
  return Object.keys(rest).length === 0 ? null : rest
}

/** Returns whether a task makes the console unreachable through its endpoint. */
const removesAdminAccess = ({ row, after, policy }: BulkTask): boolean =>
  servesConsole(row.databases) && (!servesConsole(after) || policy?.after?.enabled === false)

const LAST_ADMIN_ACCESS =
  'Without it, no one could sign in, because no other endpoint would serve _system. Add another one first.'
