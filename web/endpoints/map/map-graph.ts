import { SYSTEM_DATABASE } from '../../../server/contract/database.ts'
import { type EndpointRow, gravestOf, type RowState } from '../endpoint-rows.ts'

/** The endpoints of one mapping: they reach the same databases, and the same by default. */
export interface MapGroup {
  readonly id: string
  readonly rows: readonly EndpointRow[]
  /** Of the first of them; empty: every database. */
  readonly mapping: readonly string[]
  /** The worst that one of them is in. */
  readonly state: RowState
}

/** A database, or a name that no database has, or all databases together. */
export interface MapName {
  readonly id: string
  /** `null`: all databases. */
  readonly name: string | null
  readonly exists: boolean
  /** The endpoints through which it is reached, and those of them that have it as their default. */
  readonly through: number
  readonly defaultOf: number
}

/** That the endpoints of a group reach a name. */
export interface MapLine {
  readonly group: string
  readonly name: string
  readonly isDefault: boolean
}

/** What the map shows. */
export interface MapGraph {
  readonly groups: readonly MapGroup[]
  readonly names: readonly MapName[]
  readonly lines: readonly MapLine[]
}

/** The id of the name that stands for all databases; no database can be called so. */
export const ALL = '*'

/**
 * Joins endpoints with the databases that they reach. Equal mappings are one group, whatever the
 * order of what is not the default; what was removed is left out.
 *
 * @param databases the names there are; `undefined`: not known, then all are taken to exist.
 * @param passes which endpoints are shown; names that none of these reaches are then left out.
 */
export function makeGraph(
  rows: readonly EndpointRow[],
  databases: readonly string[] | undefined,
  passes?: (row: EndpointRow) => boolean,
): MapGraph {
  const configured = rows.filter(({ databases: mapping }) => mapping !== null)
  const shown = passes === undefined ? configured : configured.filter(passes)
  const groups = [...Map.groupBy(shown, ({ databases: mapping }) => keyOf(mapping ?? []))].map(
    ([id, members]): MapGroup => ({
      id,
      rows: members,
      mapping: members[0]?.databases ?? [],
      state: gravestOf(members.map(({ state }) => state)),
    }),
  )
  const lines = groups.flatMap(({ id, mapping }) =>
    mapping.length === 0
      ? [{ group: id, name: ALL, isDefault: true }]
      : mapping.map((name, index) => ({ group: id, name, isDefault: index === 0 })),
  )
  const joined = new Set(lines.map(({ name }) => name))
  const names = [
    ...(joined.has(ALL) ? [ALL] : []),
    ...new Set([...(databases ?? []), ...[...joined].filter((name) => name !== ALL).sort()]),
  ].filter((name) => passes === undefined || joined.has(name))
  const count = countReached(configured)
  const exists = (id: string) => id === ALL || databases === undefined || databases.includes(id)
  return {
    groups,
    lines,
    names: names.map((id) => ({
      id,
      name: id === ALL ? null : id,
      exists: exists(id),
      ...count(id),
    })),
  }
}

const keyOf = ([first, ...rest]: readonly string[]): string =>
  first === undefined ? ALL : [first, ...rest.sort()].join('+')

/** Counts through how many endpoints a name is reached; each is looked at once, for all names. */
function countReached(rows: readonly EndpointRow[]) {
  const through = new Map<string, number>()
  const defaults = new Map<string, number>()
  const add = (counts: Map<string, number>, name: string) =>
    counts.set(name, (counts.get(name) ?? 0) + 1)
  for (const { databases: mapping } of rows) {
    const names = mapping === null || mapping.length > 0 ? (mapping ?? []) : [ALL]
    for (const name of names) add(through, name)
    const [first] = names
    if (first !== undefined) add(defaults, first)
  }
  const all = through.get(ALL) ?? 0
  return (id: string) => ({
    through: (through.get(id) ?? 0) + (id === ALL ? 0 : all),
    defaultOf: (defaults.get(id) ?? 0) + (id === SYSTEM_DATABASE ? all : 0),
  })
}
