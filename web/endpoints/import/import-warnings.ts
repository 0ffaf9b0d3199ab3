import { isLoopback, parseAddress } from '../../../server/contract/endpoints/address.ts'
import { formatList } from '../model/list/format-list.ts'
import { missingDatabases } from '../model/mapping.ts'
import type { ImportPlan } from './import-plan.ts'

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
