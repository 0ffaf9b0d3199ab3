import { includesDatabase, SYSTEM_DATABASE } from '../../../server/contract/database.ts'
import { formatList } from './format-list.ts'

// A mapping is an ordered list of database names. Empty means all databases; the first is the
// default.

/** Returns the database of requests that name none. */
export const defaultOf = (mapping: readonly string[]): string => mapping[0] ?? SYSTEM_DATABASE

/** Returns whether two mappings are equal, including their order. */
export const sameMapping = (a: readonly string[], b: readonly string[]): boolean =>
  a.length === b.length && a.every((name, index) => name === b[index])

/** Compares two mappings; null means that the endpoint does not exist. */
export const sameState = (a: readonly string[] | null, b: readonly string[] | null): boolean =>
  a === null || b === null ? a === b : sameMapping(a, b)

/**
 * Describes a mapping: "Requests without a database name go to blog. These are also available:
 * shop."
 *
 * @param existing the names of all databases; undefined until they are loaded.
 */
export function formatMapping(
  mapping: readonly string[],
  existing: readonly string[] | undefined,
): string {
  const usual = defaultOf(mapping)
  const missing = missingDatabases(mapping, existing)
  const hasDefault = !missing.includes(usual)
  const first = `Requests without a database name ${hasDefault ? `go to ${usual}` : 'get 404'}.`
  if (mapping.length === 0) return `${first} Every other database is available by its name.`
  const others = mapping.slice(1).filter((name) => !missing.includes(name))
  if (others.length === 0) return `${first} No ${hasDefault ? 'other' : 'database'} is available.`
  const also = hasDefault ? 'also ' : ''
  if (others.length === 1) return `${first} This is ${also}available: ${others[0]}.`
  return `${first} These are ${also}available: ${formatList(others)}.`
}

/** Describes the change of a mapping: "No longer available here: archive." */
export function formatChange(
  before: readonly string[],
  after: readonly string[],
  existing: readonly string[],
): string[] {
  const all = [...new Set([...before, ...after, ...existing])]
  const lost = all.filter(
    (name) => includesDatabase(before, name) && !includesDatabase(after, name),
  )
  const won = all.filter((name) => !includesDatabase(before, name) && includesDatabase(after, name))
  const from = defaultOf(before)
  const to = defaultOf(after)
  return [
    ...(lost.length > 0 ? [`No longer available here: ${formatList(lost)}.`] : []),
    ...(won.length > 0 ? [`Newly available here: ${formatList(won)}.`] : []),
    ...(from === to ? [] : [`The default changes from ${from} to ${to}.`]),
  ]
}

/**
 * Returns the names of a mapping without a database, which may be created later. Returns none if
 * `existing` is not loaded.
 */
export const missingDatabases = (
  mapping: readonly string[],
  existing: readonly string[] | undefined,
): string[] => (existing === undefined ? [] : mapping.filter((name) => !existing.includes(name)))
