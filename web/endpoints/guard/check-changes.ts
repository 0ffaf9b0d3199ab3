import type { Policy } from '../../../server/contract/endpoints/policy.ts'
import {
  findOtherConsole,
  isAdminAccess,
  keepsConsole,
  type OtherConsole,
  type PageLocation,
  permitsConsole,
  servesConsole,
} from '../model/admin-access.ts'
import type { EndpointRow } from '../model/endpoint-rows.ts'
import { formatList } from '../model/format-list.ts'

/** The state of an endpoint before and after a change. */
export interface EndpointChange {
  readonly address: string
  /** The mapping before the change; null if the endpoint is added. */
  readonly before: readonly string[] | null
  /** The mapping after the change; null if the endpoint is removed. */
  readonly after: readonly string[] | null
  /** The policies before and after a change that adds, replaces or removes one. */
  readonly policy?: PolicyChange | undefined
}

/** A change of the policy of an endpoint; null for the defaults. */
export interface PolicyChange {
  readonly before: Policy | null
  readonly after: Policy | null
}

/** The effects of changes to endpoints on this page and on other clients. */
export interface ChangeGuard {
  /** The reason why the changes are rejected. If set, the other fields are empty. */
  readonly refused: string | undefined
  /** The consequences, one sentence each, most serious first. */
  readonly consequences: readonly string[]
  /** Whether the changes disconnect this page. */
  readonly disconnects: boolean
  /** Where the console stays available, if `disconnects` is set and this browser can reach it. */
  readonly otherConsole: OtherConsole | undefined
}

export interface ChangeContext {
  /** All changes of one request or confirmation. Additions are applied first. */
  readonly changes: readonly Pick<EndpointChange, 'address' | 'after' | 'policy'>[]
  readonly rows: readonly EndpointRow[]
  /** The names of all databases; empty until they are loaded. */
  readonly databases: readonly string[]
  /** Address of the endpoint that serves this page. */
  readonly here: string
  /** Whether the sentences name the endpoint. Default: true for several changes. */
  readonly named?: boolean
  /** Drain time of removed endpoints, in seconds; omitted from the sentence if undefined. */
  readonly drainSeconds: number | undefined
  readonly page: PageLocation
}

/**
 * Checks changes to endpoints before they are applied: additions, mapping changes and removals.
 * Every confirmation in the console uses it and shows the result with `GuardNotice`:
 *
 * 1. `refused`: the changes would remove the last endpoint that serves the console. Don't send
 *    them.
 * 2. `disconnects`: label the button "… and disconnect" ({@link guardedLabel}). Afterwards
 *    `showEndpointChange` links to the other console instead of offering Undo.
 */
export function checkChanges(context: ChangeContext): ChangeGuard {
  const { changes, rows, here, named = changes.length > 1 } = context
  const changed = new Map(changes.map((change) => [change.address, change]))
  const policyAfter = ({ address, policy }: EndpointRow) => {
    const change = changed.get(address)?.policy
    return change === undefined ? policy : change.after
  }
  const storedAfter = ({ address, databases }: EndpointRow) => {
    const change = databases === null ? undefined : changed.get(address)
    return change === undefined ? databases : change.after
  }
  /** The mapping that clients reach: null if the endpoint is removed or off. */
  const mappingAfter = (row: EndpointRow) =>
    policyAfter(row)?.enabled === false ? null : storedAfter(row)
  const servesAfter = (row: EndpointRow) =>
    servesConsole(mappingAfter(row)) && keepsConsole(policyAfter(row))
  const configured = new Set(
    rows.flatMap(({ address, databases }) => (databases === null ? [] : address)),
  )
  const added = changes.filter(({ address }) => !configured.has(address))
  const adminEndpoints = [
    ...rows.filter((row) => (isAdminAccess(row) || isOff(row)) && servesAfter(row)),
    ...added.filter(({ after, policy }) => servesConsole(after) && keepsConsole(policy?.after)),
  ]
  if (rows.some(isAdminAccess) && adminEndpoints.length === 0) {
    const others = rows.some(
      (row) => servesConsole(storedAfter(row)) && !keepsConsole(policyAfter(row)),
    )
    const refused = `${named ? NO_ADMIN_ACCESS : LAST_ADMIN_ACCESS}${others ? NOT_COUNTED : ''}`
    return { refused, consequences: [], disconnects: false, otherConsole: undefined }
  }
  const disconnects = rows.some(
    (row) =>
      row.address === here &&
      servesConsole(row.databases) &&
      !(servesConsole(mappingAfter(row)) && permitsConsole(policyAfter(row))),
  )
  const otherConsole = disconnects ? findOtherConsole(adminEndpoints, context.page) : undefined
  const removed = rows.filter(
    (row) =>
      row.databases !== null &&
      mappingAfter(row) === null &&
      changed.has(row.address) &&
      // One that is already off stays as it is.
      (!isOff(row) || storedAfter(row) === null),
  )
  const stranded = findUnservedDatabases(context, mappingAfter, added)
  return {
    refused: undefined,
    disconnects,
    otherConsole,
    consequences: [
      disconnects && formatOwn(named ? `${here}` : 'this endpoint'),
      disconnects && otherConsole === undefined && NO_OTHER_CONSOLE,
      removed.length > 0 && formatConnections(removed, context.drainSeconds),
      stranded.length > 0 && formatStranded(stranded, !named),
    ].filter((sentence) => sentence !== false),
  }
}

/** Returns the label of the confirming button, such as "Save and disconnect". */
export const guardedLabel = (guard: ChangeGuard, verb: string, label: string): string =>
  guard.disconnects ? `${verb} and disconnect` : label

/**
 * Returns the databases that the changed endpoints reach now and no endpoint reaches afterwards.
 */
function findUnservedDatabases(
  { changes, rows, databases }: ChangeContext,
  mappingAfter: (row: EndpointRow) => readonly string[] | null,
  added: ChangeContext['changes'],
): string[] {
  const touched = new Set(changes.map(({ address }) => address))
  const databasesLost = new Set<string>()
  for (const row of rows) {
    if (row.databases === null || isOff(row) || !touched.has(row.address)) continue
    for (const name of row.databases.length === 0 ? databases : row.databases)
      databasesLost.add(name)
  }
  const left = [
    ...rows.filter(isOpen).map(mappingAfter),
    ...added.map(({ after }) => after),
    ...rows.filter((row) => !isOpen(row) && touched.has(row.address)).map(mappingAfter),
  ].filter((mapping) => mapping !== null)
  if (left.some((mapping) => mapping.length === 0)) return []
  const reached = new Set(left.flat())
  return [...databasesLost].filter((name) => !reached.has(name))
}

const isOpen = ({ databases, state }: EndpointRow) =>
  databases !== null && (state === 'listening' || state === 'opening')

const isOff = ({ policy }: EndpointRow): boolean => policy?.enabled === false

const formatOwn = (endpoint: string) =>
  `You are connected through ${endpoint}. This page will stop working.`

const NO_OTHER_CONSOLE = 'This browser cannot reach the console through another endpoint.'

const LAST_ADMIN_ACCESS =
  'Without this endpoint, no one can sign in, because no other endpoint serves _system. ' +
  'Add another one first.'

const NO_ADMIN_ACCESS =
  'After this change, no one can sign in, because no endpoint serves _system. ' +
  'Keep one that does, or add one.'

const NOT_COUNTED =
  ' Endpoints that are off, that are removed at a set time or that have no administration do not count.'

function formatConnections(removed: readonly EndpointRow[], drainSeconds: number | undefined) {
  if (removed.every(({ state }) => state === 'failed' || state === 'closed')) {
    return 'No connections will be closed, because none are open.'
  }
  const open = removed.reduce((sum, { connections }) => sum + connections, 0)
  const refused = 'New connections will be refused immediately'
  if (open === 0) return `${refused}. No connections are open.`
  const time = drainSeconds === undefined ? 'time' : `${drainSeconds} s`
  return `${refused}. ${open === 1 ? 'The open connection will have' : `The ${open} open connections will have`} ${time} to finish.`
}

/** Maximum number of database names in a sentence; the rest is only counted. */
const MAX_NAMES = 8

function formatStranded(names: readonly string[], one: boolean): string {
  const databases = formatList(names, { conjunction: 'or', max: MAX_NAMES })
  return `${one ? 'No other endpoint serves' : 'No endpoint will serve'} ${databases}.`
}
