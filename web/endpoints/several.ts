import { SYSTEM_DATABASE } from '../../server/contract/database.ts'
import type { EndpointRecord } from '../../server/contract/endpoint.ts'
import type { EndpointRow } from './endpoint-rows.ts'
import { listNames, reaches } from './mapping.ts'
import type { SeveralAction } from './selection-bar.tsx'
import { isWayIn } from './ways-in.ts'

/** A change of one of several endpoints. */
export interface SeveralTask {
  readonly row: EndpointRow
  /** The endpoint as it is to be; as it was, where it is to be removed. */
  readonly record: EndpointRecord
}

/** One that will not be changed. */
export interface Kept {
  readonly address: string
  readonly why: string
  /** Whether it is as wanted already. */
  readonly fine: boolean
}

/** What will be done with several endpoints, one after the other, and what is told before. */
export interface SeveralPlan {
  readonly tasks: readonly SeveralTask[]
  readonly kept: readonly Kept[]
  readonly sentences: readonly string[]
  /** Another endpoint with the console, where the page's own will not have it any more. */
  readonly wayOut: string | undefined
}

/** What {@link planSeveral} takes into account. */
export interface SeveralFacts {
  readonly action: SeveralAction
  /** The database to be added or taken out. */
  readonly name: string
  readonly rows: readonly EndpointRow[]
  /** The addresses that are selected. */
  readonly selected: ReadonlySet<string>
  /** The address through which this page came. */
  readonly here: string | undefined
  /** How long open connections are given, in seconds; left unsaid where not known. */
  readonly drainSeconds: number | undefined
}

/** Judges what can be done with each, and says what will be. Taking out the last name is never "all". */
export function planSeveral(facts: SeveralFacts): SeveralPlan {
  const { rows, selected, here } = facts
  const chosen = rows.filter(
    ({ address, databases }) => databases !== null && selected.has(address),
  )
  const judged = chosen.map((row) => judge(facts, row))
  const kept = judged.flatMap((one) => ('why' in one ? one : []))
  const tasks = judged.flatMap((one) => ('row' in one ? one : []))

  // Nobody could sign in without the last way in: the page's own stays rather than another.
  const closed = new Set(tasks.filter((task) => closes(facts, task)).map(({ row }) => row.address))
  const waysIn = rows.filter(isWayIn)
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
  // One's own is the last: through it no answer comes any more.
  tasks.sort((a, b) => Number(a.row.address === here) - Number(b.row.address === here))
  const own = here !== undefined && closed.has(here)
  return {
    tasks,
    kept,
    sentences: [...sayWhatWillBe(facts, tasks), ...(own ? [sayOwn(here)] : [])],
    wayOut: own
      ? left.find(({ address }) => address !== here && !address.startsWith('unix:'))?.address
      : undefined,
  }
}

function judge({ action, name }: SeveralFacts, row: EndpointRow): SeveralTask | Kept {
  const { address } = row
  const mapping = row.databases ?? []
  const task = (databases: readonly string[]): SeveralTask => ({
    row,
    record: { endpoint: address, databases: [...databases] },
  })
  const keep = (why: string, fine = false): Kept => ({ address, why, fine })
  if (action === 'remove') return task(mapping)
  if (action === 'add') {
    if (mapping.length === 0) return keep('It reaches every database already.', true)
    if (mapping.includes(name)) return keep(`It reaches ${name} already.`, true)
    return task([...mapping, name])
  }
  if (mapping.length === 0) {
    return keep('It reaches every database. Choose in its mapping which ones it is to reach.')
  }
  if (!mapping.includes(name)) return keep(`It does not reach ${name}.`, true)
  if (mapping.length === 1) {
    return keep(
      `${name} is its only database. Without it, it would reach every database: map it anew, or remove it.`,
    )
  }
  return task(mapping.filter((each) => each !== name))
}

/** Whether a task leaves an endpoint without the console. */
const closes = ({ action }: SeveralFacts, { row, record }: SeveralTask): boolean =>
  reaches(row.databases ?? [], SYSTEM_DATABASE) &&
  (action === 'remove' || !reaches(record.databases, SYSTEM_DATABASE))

const LAST_WAY_IN =
  'Nobody could sign in without it: no other endpoint would reach _system. Add one that does first.'

const sayOwn = (here: string) =>
  `You are connected through ${here}. It comes last, and this page will stop working.`

function sayWhatWillBe(facts: SeveralFacts, tasks: readonly SeveralTask[]): string[] {
  const { action, rows, name } = facts
  if (tasks.length === 0 || action === 'add') return []
  const touched = new Set(tasks.map(({ row }) => row.id))
  const others = rows.filter(({ id, databases }) => databases !== null && !touched.has(id))
  const after = action === 'remove' ? [] : tasks.map(({ record }) => record.databases)
  const stays = (database: string) =>
    others.some(({ databases }) => reaches(databases ?? [], database)) ||
    after.some((mapping) => reaches(mapping, database))
  const names =
    action === 'remove'
      ? [...new Set(tasks.flatMap(({ row }) => [...(row.databases ?? [])]))]
      : [name]
  const lost = names.filter((database) => !stays(database))
  return [
    ...(action === 'remove' ? [sayConnections(facts, tasks)] : []),
    ...(lost.length > 0 ? [`No endpoint will reach ${listNames(lost)} any more.`] : []),
  ]
}

function sayConnections({ drainSeconds }: SeveralFacts, tasks: readonly SeveralTask[]): string {
  const open = tasks.reduce((sum, { row }) => sum + row.connections, 0)
  const refused = 'New connections are refused at once'
  if (open === 0) return `${refused}; none is open now.`
  const time = drainSeconds === undefined ? 'time' : `${drainSeconds} s`
  return `${refused}; ${open === 1 ? 'the open one gets' : `the ${open} open ones get`} ${time} to finish.`
}
