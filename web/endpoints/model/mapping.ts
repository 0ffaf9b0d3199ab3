import { SYSTEM_DATABASE } from '../../server/contract/database.ts'

// A mapping is an ordered list of names: empty means every database, the first is the default.

/** The database that a request reaches when it names none. */
export const defaultOf = (mapping: readonly string[]): string => mapping[0] ?? SYSTEM_DATABASE

/** Whether a database can be reached through a mapping. */
export const reaches = (mapping: readonly string[], name: string): boolean =>
  mapping.length === 0 || mapping.includes(name)

/** Whether two mappings say the same. */
export const sameMapping = (a: readonly string[], b: readonly string[]): boolean =>
  a.length === b.length && a.every((name, index) => name === b[index])

/** "blog", "blog and shop", "blog, shop and news". */
export function listNames(names: readonly string[]): string {
  if (names.length < 2) return names.join('')
  return `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`
}

/** What will be: "Requests that name no database reach blog. Also reachable: shop." */
export function sayMapping(mapping: readonly string[]): string {
  const first = `Requests that name no database reach ${defaultOf(mapping)}.`
  if (mapping.length === 0) return `${first} Every other database is reachable by its name.`
  const others = mapping.slice(1)
  if (others.length === 0) return `${first} No other is reachable.`
  return `${first} Also reachable: ${listNames(others)}.`
}

/** What a change of mapping takes and gives: "No longer reachable here: archive." */
export function sayChange(
  before: readonly string[],
  after: readonly string[],
  existing: readonly string[],
): string[] {
  const all = [...new Set([...before, ...after, ...existing])]
  const lost = all.filter((name) => reaches(before, name) && !reaches(after, name))
  const won = all.filter((name) => !reaches(before, name) && reaches(after, name))
  const from = defaultOf(before)
  const to = defaultOf(after)
  return [
    ...(lost.length > 0 ? [`No longer reachable here: ${listNames(lost)}.`] : []),
    ...(won.length > 0 ? [`Newly reachable here: ${listNames(won)}.`] : []),
    ...(from === to ? [] : [`The default changes from ${from} to ${to}.`]),
  ]
}

/** Names in a mapping that no database has: they may be created later. `undefined`: not known. */
export const missingFrom = (
  mapping: readonly string[],
  existing: readonly string[] | undefined,
): string[] => (existing === undefined ? [] : mapping.filter((name) => !existing.includes(name)))
