import { isLoopback, parseAddress } from '../../../server/contract/address.ts'
import { SYSTEM_DATABASE } from '../../../server/contract/database.ts'
import type { EndpointRow } from '../endpoint-rows.ts'
import { listSome } from '../list-some.ts'
import { missingFrom, reaches } from '../mapping.ts'
import { isWayIn } from '../ways-in.ts'
import type { ImportPlan } from './import-plan.ts'

/** What an import would do beyond its changes one by one. */
export interface ImportConsequences {
  /** Why it cannot be done. */
  readonly refused: string | undefined
  /** What to know before, sentence by sentence. */
  readonly warnings: readonly string[]
  /** Another endpoint with the console, where this page would stop working. */
  readonly wayOut: string | undefined
}

/** What the consequences depend on. */
export interface ImportFacts {
  readonly plan: ImportPlan
  readonly rows: readonly EndpointRow[]
  /** The names of all databases; `undefined` while they are not known. */
  readonly databases: readonly string[] | undefined
  /** The endpoint through which this page came. */
  readonly here: string | undefined
}

/** Judges what an import would do, in sentences. */
export function judgeImport({ plan, rows, databases, here }: ImportFacts): ImportConsequences {
  const changed = new Map(plan.changes.map((change) => [change.address, change]))
  const added = plan.changes.filter(({ kind }) => kind === 'added')
  const afterOf = (row: EndpointRow) => {
    const change = changed.get(row.address)
    return change === undefined ? row.databases : change.after
  }
  const before = rows.map((row) => row.databases)
  const after = [...rows.map(afterOf), ...added.map((change) => change.after)]
  const waysIn = [
    ...rows.filter((row) => isWayIn(row) && leads(afterOf(row))),
    ...added.filter((change) => leads(change.after)),
  ].map(({ address }) => address)
  const ownChange = here === undefined ? undefined : changed.get(here)
  const own = ownChange !== undefined && !leads(ownChange.after)
  const exposed = plan.changes.flatMap(({ kind, address }) =>
    kind === 'added' && isExposed(address) ? [address] : [],
  )
  const named = plan.changes.flatMap(({ after: mapping }) => mapping ?? [])
  const missing = [...new Set(missingFrom(named, databases))]
  const stranded = (databases ?? []).filter(
    (name) =>
      before.some((mapping) => leads(mapping, name)) &&
      !after.some((mapping) => leads(mapping, name)),
  )
  return {
    refused: rows.some(isWayIn) && waysIn.length === 0 ? LAST_WAY_IN : undefined,
    warnings: [
      own && `You are connected through ${here}. This page will stop working at the end.`,
      stranded.length > 0 && `No endpoint will reach ${listSome(stranded, 'or')}.`,
      exposed.length > 0 && sayExposed(exposed),
      missing.length > 0 && sayMissing(missing),
    ].filter((warning) => warning !== false),
    wayOut: own ? waysIn.find((address) => !address.startsWith('unix:')) : undefined,
  }
}

const LAST_WAY_IN =
  'Nobody could sign in afterwards: no endpoint would reach _system. Keep one that does, or add one to the file.'

const leads = (mapping: readonly string[] | null, name = SYSTEM_DATABASE): boolean =>
  mapping !== null && reaches(mapping, name)

function isExposed(text: string): boolean {
  const parsed = parseAddress(text)
  return parsed.ok && parsed.address.scheme === 'tcp' && !isLoopback(parsed.address)
}

function sayExposed(addresses: readonly string[]): string {
  const them = addresses.length === 1 ? 'it' : 'them'
  return `Tokens and documents travel unencrypted through ${listSome(addresses)}: other machines can reach ${them}.`
}

function sayMissing(names: readonly string[]): string {
  if (names.length === 1) return `There is no database ${names[0]} yet: requests for it answer 404.`
  return `There are no databases ${listSome(names)} yet: requests for them answer 404.`
}
