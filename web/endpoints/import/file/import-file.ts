import { formatAddress, parseAddress } from '../../../server/contract/address.ts'
import { DATABASE_NAME_RULE, isDatabaseName } from '../../../server/contract/database.ts'
import { MAPPING_NAMES } from '../../../server/contract/endpoint.ts'
import { type JsonEntry, readEntries } from './json-entries.ts'

/** The most endpoints that are imported at once. */
export const MOST_ENTRIES = 10_000

/** An endpoint that a file asks for. */
export interface WantedEndpoint {
  /** In canonical form. */
  readonly address: string
  readonly databases: readonly string[]
}

/** What is wrong at one place of a file. */
export interface ImportFault {
  /** "Line 12", "Entry 3, line 12". */
  readonly where: string
  /** From 1. */
  readonly line: number
  readonly message: string
}

/** A file, read: what it asks for, or everything that is wrong with it. */
export type ImportFile =
  | { readonly ok: true; readonly wanted: readonly WantedEndpoint[] }
  | { readonly ok: false; readonly faults: readonly ImportFault[] }

/**
 * Reads a list of endpoints as `GET /_api/endpoint` gives it. As with `POST`, `databases` may be
 * left out, keys that are not known are ignored, and addresses may be written in any form. Never
 * throws: all faults are told at once.
 */
export function readImport(text: string): ImportFile {
  const read = readEntries(text)
  if (!read.ok) {
    const { line, column, message } = read.fault
    return refuse({ where: `Line ${line}, column ${column}`, line, message })
  }
  const { entries } = read
  if (entries.length > MOST_ENTRIES) {
    return refuse({
      where: 'The list',
      line: 1,
      message: `There are ${count.format(entries.length)} endpoints; ${count.format(MOST_ENTRIES)} can be imported at once.`,
    })
  }
  const faults: ImportFault[] = []
  const wanted: WantedEndpoint[] = []
  const lines = new Map<string, string>()
  entries.forEach((entry, index) => {
    const where = `Entry ${index + 1}, line ${entry.line}`
    const judged = judgeEntry(entry)
    const { endpoint } = judged
    const first = endpoint && lines.get(endpoint.address)
    const twice = first && [`${endpoint?.address} is named by ${first} already.`]
    for (const message of [...judged.faults, ...(twice ?? [])]) {
      faults.push({ where, line: entry.line, message })
    }
    if (endpoint === undefined) return
    if (first === undefined) lines.set(endpoint.address, lowerFirst(where))
    wanted.push(endpoint)
  })
  return faults.length > 0 ? { ok: false, faults } : { ok: true, wanted }
}

const count = new Intl.NumberFormat('en')

const refuse = (fault: ImportFault): ImportFile => ({ ok: false, faults: [fault] })

const lowerFirst = (text: string) => text.charAt(0).toLowerCase() + text.slice(1)

/** The endpoint of an entry where its address is good, and what is wrong with the entry. */
function judgeEntry({ value }: JsonEntry): {
  readonly endpoint?: WantedEndpoint
  readonly faults: readonly string[]
} {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return { faults: ['An entry is an object: { "endpoint": …, "databases": […] }.'] }
  }
  const { endpoint, databases = [] } = value as Readonly<Record<string, unknown>>
  const names = nameFaults(databases)
  if (endpoint === undefined) return { faults: ['“endpoint” is missing.', ...names] }
  if (typeof endpoint !== 'string') {
    return { faults: ['“endpoint” is a text, as in tcp://127.0.0.1:8530.', ...names] }
  }
  const parsed = parseAddress(endpoint)
  if (!parsed.ok) return { faults: [`${JSON.stringify(endpoint)}: ${parsed.fault}`, ...names] }
  const mapping = names.length === 0 ? (databases as readonly string[]) : []
  return { endpoint: { address: formatAddress(parsed.address), databases: mapping }, faults: names }
}

function nameFaults(databases: unknown): string[] {
  if (!Array.isArray(databases))
    return ['“databases” is a list of names, empty for every database.']
  if (databases.length > MAPPING_NAMES) {
    return [`“databases” has ${count.format(databases.length)} names, at most 1,000.`]
  }
  const seen = new Set<unknown>()
  return databases.flatMap((name: unknown) => {
    if (typeof name !== 'string' || !isDatabaseName(name)) {
      return `${JSON.stringify(name)} is no database name. ${DATABASE_NAME_RULE}`
    }
    if (seen.has(name)) return `“databases” names ${name} twice.`
    seen.add(name)
    return []
  })
}
