import { DATABASE_NAME_RULE, isDatabaseName } from '../../../server/contract/database.ts'
import { formatAddress, parseAddress } from '../../../server/contract/endpoints/address.ts'
import { MAPPING_NAMES } from '../../../server/contract/endpoints/endpoint.ts'
import { type Policy, policy as policySchema } from '../../../server/contract/endpoints/policy.ts'
import { formatCount } from '../../ui/text/format-number.ts'
import { type JsonEntry, readEntries } from './json-entries.ts'

/** Maximum number of endpoints per import. */
export const MAX_ENTRIES = 10_000

/** An endpoint in an import file. */
export interface WantedEndpoint {
  /** The normalized address. */
  readonly address: string
  readonly databases: readonly string[]
  /** Null for the defaults; `undefined` to keep the policy. */
  readonly policy?: Policy | null | undefined
}

/** An error at one position of a file. */
export interface ImportError {
  /** "Line 12", "Entry 3, line 12". */
  readonly where: string
  /** Starts at 1. */
  readonly line: number
  readonly message: string
}

/** A parsed import file: its endpoints, or all its errors. */
export type ImportFile =
  | { readonly ok: true; readonly wanted: readonly WantedEndpoint[] }
  | { readonly ok: false; readonly errors: readonly ImportError[] }

/**
 * Parses a list of endpoints in the format of `GET /_api/endpoint`. `databases` and
 * `policy` are optional. As with `POST`, unknown keys are ignored, and addresses may be written in any form. Returns all
 * errors at once and never throws.
 */
export function readImport(text: string): ImportFile {
  const read = readEntries(text)
  if (!read.ok) {
    const { line, column, message } = read.error
    return refuse({ where: `Line ${line}, column ${column}`, line, message })
  }
  const { entries } = read
  if (entries.length > MAX_ENTRIES) {
    return refuse({
      where: 'The list',
      line: 1,
      message: `Too many endpoints: ${formatCount(entries.length)}. The maximum is ${formatCount(MAX_ENTRIES)}.`,
    })
  }
  const errors: ImportError[] = []
  const wanted: WantedEndpoint[] = []
  const lines = new Map<string, string>()
  entries.forEach((entry, index) => {
    const where = `Entry ${index + 1}, line ${entry.line}`
    const checked = parseEntry(entry)
    const { endpoint } = checked
    const first = endpoint && lines.get(endpoint.address)
    const twice = first && [`${endpoint?.address} is already in ${first}.`]
    for (const message of [...checked.errors, ...(twice ?? [])]) {
      errors.push({ where, line: entry.line, message })
    }
    if (endpoint === undefined) return
    if (first === undefined) lines.set(endpoint.address, lowerFirst(where))
    wanted.push(endpoint)
  })
  return errors.length > 0 ? { ok: false, errors } : { ok: true, wanted }
}

const refuse = (error: ImportError): ImportFile => ({ ok: false, errors: [error] })

const lowerFirst = (text: string) => text.charAt(0).toLowerCase() + text.slice(1)

/** Returns the endpoint of an entry if its address is valid, and the errors of the entry. */
function parseEntry({ value }: JsonEntry): {
  readonly endpoint?: WantedEndpoint
  readonly errors: readonly string[]
} {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return { errors: ['An entry must be an object: { "endpoint": …, "databases": […] }.'] }
  }
  const { endpoint, databases = [], policy } = value as Readonly<Record<string, unknown>>
  const rules = policy === undefined || policy === null ? undefined : policySchema.safeParse(policy)
  const names = [
    ...nameErrors(databases),
    ...(rules?.error?.issues.map(({ path, message }) => formatRuleError(path, message)) ?? []),
  ]
  if (endpoint === undefined) return { errors: ['“endpoint” is missing.', ...names] }
  if (typeof endpoint !== 'string') {
    return { errors: ['“endpoint” must be a string, such as tcp://127.0.0.1:8530.', ...names] }
  }
  const parsed = parseAddress(endpoint)
  if (!parsed.ok) return { errors: [`${JSON.stringify(endpoint)}: ${parsed.message}`, ...names] }
  const mapping = names.length === 0 ? (databases as readonly string[]) : []
  return {
    endpoint: {
      address: formatAddress(parsed.address),
      databases: mapping,
      ...(policy !== undefined && { policy: rules?.data ?? null }),
    },
    errors: names,
  }
}

const formatRuleError = (path: readonly PropertyKey[], message: string): string =>
  `“${['policy', ...path.map(String)].join('.')}”: ${message}.`

function nameErrors(databases: unknown): string[] {
  if (!Array.isArray(databases))
    return ['“databases” must be an array of names. An empty array means all databases.']
  if (databases.length > MAPPING_NAMES) {
    return [`“databases” has ${formatCount(databases.length)} names. The maximum is 1,000.`]
  }
  const seen = new Set<unknown>()
  return databases.flatMap((name: unknown) => {
    if (typeof name !== 'string' || !isDatabaseName(name)) {
      return `${JSON.stringify(name)} is not a valid database name. ${DATABASE_NAME_RULE}`
    }
    if (seen.has(name)) return `“databases” contains ${name} twice.`
    seen.add(name)
    return []
  })
}
