import { isLoopback, parseAddress } from '../../../server/contract/endpoints/address.ts'
import { dropPastRemoval, samePolicy } from '../../policy/rule-changes.ts'
import type { PolicyChange } from '../guard/check-changes.ts'
import { permitsConsole, servesConsole } from '../model/admin-access.ts'
import type { EndpointRow } from '../model/endpoint-rows.ts'
import { formatList } from '../model/format-list.ts'
import { missingDatabases, sameMapping } from '../model/mapping.ts'
import type { WantedEndpoint } from './import-file.ts'

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
  /** The change of its policy, if that differs; an endpoint without one is added as it is. */
  readonly policy?: PolicyChange | undefined
  readonly policyRevision?: number | undefined
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
 * in the file. Times of removal that have passed are dropped.
 */
export function planImport(
  wanted: readonly WantedEndpoint[],
  rows: readonly EndpointRow[],
  remove: boolean,
  now = Date.now(),
): ImportPlan {
  const configured = new Map(
    rows.flatMap((row) => (row.databases === null ? [] : [[row.address, row] as const])),
  )
  const changes: ImportChange[] = []
  const unchanged: string[] = []
  for (const { address, databases, policy: file } of wanted) {
    const row = configured.get(address)
    const before = row?.databases ?? null
    configured.delete(address)
    const stored = row?.policy ?? null
    const rules = file && dropPastRemoval(file, now)
    const policy =
      rules === undefined || samePolicy(stored, rules)
        ? undefined
        : { before: stored, after: rules }
    if (before !== null && sameMapping(before, databases) && policy === undefined) {
      unchanged.push(address)
    } else {
      const kind = before === null ? 'added' : 'changed'
      const change = { kind, address, before, after: databases, revision: row?.revision } as const
      const policyRevision = row?.policyRevision
      changes.push(policy === undefined ? change : { ...change, policy, policyRevision })
    }
  }
  if (remove) {
    for (const { address, databases: before, revision, policy } of configured.values()) {
      const change = { kind: 'removed', address, before, after: null, revision } as const
      changes.push(policy ? { ...change, policy: { before: policy, after: null } } : change)
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

/**
 * Sorts changes into the order in which the server applies them: additions first, removals last,
 * and the endpoint that serves this page at the very end. No database becomes unreachable in
 * between.
 *
 * @param here the address of the endpoint that serves this page.
 */
export const orderChanges = (changes: readonly ImportChange[], here: string): ImportChange[] =>
  changes.toSorted((a, b) => rank(a, here) - rank(b, here))

function rank({ kind, address, before, after, policy }: ImportChange, here: string): number {
  if (kind === 'added') return 0
  const keeps = servesConsole(after) && permitsConsole(policy?.after)
  const removesAdminAccess = servesConsole(before) && !keeps
  if (removesAdminAccess && address === here) return 4
  if (kind === 'removed') return 3
  return removesAdminAccess ? 2 : 1
}

/**
 * Warns of likely mistakes in an imported file, one sentence each: unencrypted addresses that other
 * machines can reach, and missing databases. `checkChanges` covers lost access.
 */
export function importWarnings(
  { changes }: ImportPlan,
  databases: readonly string[] | undefined,
): string[] {
  const exposed = changes.flatMap(({ kind, address }) =>
    kind === 'added' && isExposed(address) ? [address] : [],
  )
  const named = changes.flatMap(({ after }) => after ?? [])
  const missing = [...new Set(missingDatabases(named, databases))]
  const withoutDefault = changes.flatMap(({ address, after }) =>
    missingDatabases((after ?? []).slice(0, 1), databases).length > 0 ? [address] : [],
  )
  return [
    exposed.length > 0 && formatExposed(exposed),
    missing.length > 0 && formatMissing(missing),
    withoutDefault.length > 0 && formatWithoutDefault(withoutDefault),
  ].filter((warning) => warning !== false)
}

/** Lists at most three names; more are only counted. */
const listSome = (names: readonly string[]) => formatList(names, { max: 3 })

function isExposed(text: string): boolean {
  const parsed = parseAddress(text)
  return parsed.ok && parsed.address.scheme === 'tcp' && !isLoopback(parsed.address)
}

function formatExposed(addresses: readonly string[]): string {
  const them = addresses.length === 1 ? 'it' : 'them'
  return `Other machines can reach ${listSome(addresses)}. Tokens and documents are sent unencrypted through ${them}.`
}

function formatMissing(names: readonly string[]): string {
  if (names.length === 1)
    return `The database ${names[0]} does not exist. Requests for it will get 404.`
  return `The databases ${listSome(names)} do not exist. Requests for them will get 404.`
}

const formatWithoutDefault = (addresses: readonly string[]): string =>
  `The default database of ${listSome(addresses)} does not exist. Requests there without a ` +
  'database name will get 404.'
