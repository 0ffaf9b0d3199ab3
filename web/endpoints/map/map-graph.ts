import { SYSTEM_DATABASE } from '../../../server/contract/database.ts'
import {
  type EndpointState,
  mostSevereOf,
} from '../../../server/contract/endpoints/listener-state.ts'
import { compareNames } from '../../ui/text/compare-names.ts'
import type { EndpointRow } from '../model/endpoint-rows.ts'

/** Endpoints with the same default database that reach the same databases. */
export interface MapGroup {
  readonly id: string
  readonly rows: readonly EndpointRow[]
  /** The mapping of the first endpoint; empty means all databases. */
  readonly mapping: readonly string[]
  /** The most severe state among the endpoints. */
  readonly state: EndpointState
}

/** A node on the database side: a database, a name without a database, or all databases. */
export interface MapName {
  readonly id: string
  /** `null` for all databases. */
  readonly name: string | null
  readonly exists: boolean
  /** The number of endpoints that reach it, and of those that have it as their default. */
  readonly through: number
  readonly defaultOf: number
}

/** An edge: the endpoints of a group reach a name. */
export interface MapLine {
  readonly group: string
  readonly name: string
  readonly isDefault: boolean
}

export interface MapGraph {
  readonly groups: readonly MapGroup[]
  readonly names: readonly MapName[]
  readonly lines: readonly MapLine[]
}

/** Id of the node for all databases. It is not a valid database name. */
export const ALL = '*'

/**
 * Returns the graph of endpoints and the databases that they reach. Endpoints are grouped if they
 * have the same default and the same other databases in any order. Removed endpoints are omitted.
 *
 * @param databases all database names; if `undefined`, all names count as existing.
 * @param matchesFilter selects the endpoints shown; names that none of them reaches are omitted.
 */
export function makeGraph(
  rows: readonly EndpointRow[],
  databases: readonly string[] | undefined,
  matchesFilter?: (row: EndpointRow) => boolean,
): MapGraph {
  const configured = rows.filter(({ databases: mapping }) => mapping !== null)
  const shown = matchesFilter === undefined ? configured : configured.filter(matchesFilter)
  const groups = [...Map.groupBy(shown, ({ databases: mapping }) => keyOf(mapping ?? []))].map(
    ([id, members]): MapGroup => ({
      id,
      rows: members,
      mapping: members[0]?.databases ?? [],
      state: mostSevereOf(members.map(({ state }) => state)),
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
    ...new Set([
      ...(databases ?? []),
      ...[...joined].filter((name) => name !== ALL).sort(compareNames),
    ]),
  ].filter((name) => matchesFilter === undefined || joined.has(name))
  const count = countServing(configured)
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

/** Databases without lines that the picture shows as one node. */
export interface CollapsedNames {
  readonly id: string
  readonly count: number
  /** Whether endpoints that serve all databases serve them. Otherwise no endpoint does. */
  readonly served: boolean
}

/** A graph to draw. */
export interface PictureGraph extends MapGraph {
  readonly collapsed: readonly CollapsedNames[]
  /** Height of the picture, px. */
  readonly height: number
  /** Vertical center of each group, and of each name and node of collapsed names, px. */
  readonly left: ReadonlyMap<string, number>
  readonly right: ReadonlyMap<string, number>
}

/** Height of a node including its spacing, px. */
export const NODE_HEIGHT = 40

/** Maximum number of databases without lines that are nodes of their own, for each kind. */
const MAX_UNJOINED = 5

/**
 * Lays out a graph in two columns: the groups in their order, and the databases by the mean place of
 * the groups that reach them. Databases without lines come last; those of each kind are collapsed if
 * they are many.
 */
export function layOut(graph: MapGraph): PictureGraph {
  const { groups, lines, names } = graph
  const placeOf = new Map(groups.map(({ id }, at) => [id, at]))
  const placesOf = new Map(
    [...Map.groupBy(lines, ({ name }) => name)].map(([name, joined]) => [
      name,
      joined.reduce((sum, { group }) => sum + (placeOf.get(group) ?? 0), 0) / joined.length,
    ]),
  )
  const meanOf = ({ id }: MapName) => placesOf.get(id) ?? 0
  const joined = names.filter(({ id }) => placesOf.has(id)).sort((a, b) => meanOf(a) - meanOf(b))
  const unjoined = names.filter(({ id }) => !placesOf.has(id))
  const kinds = [
    { id: `${ALL} served`, served: true, names: unjoined.filter(({ through }) => through > 0) },
    {
      id: `${ALL} not served`,
      served: false,
      names: unjoined.filter(({ through }) => through === 0),
    },
  ]
  const isFew = ({ names }: { names: readonly MapName[] }) => names.length <= MAX_UNJOINED
  const shown = [...joined, ...kinds.filter(isFew).flatMap((kind) => kind.names)]
  const collapsed = kinds
    .filter((kind) => !isFew(kind))
    .map(({ id, served, names: { length: count } }) => ({ id, served, count }))
  const databases = [...shown, ...collapsed]
  const height = Math.max(groups.length, databases.length) * NODE_HEIGHT
  const spread = (nodes: readonly { readonly id: string }[]) =>
    new Map(nodes.map(({ id }, at) => [id, ((at + 0.5) * height) / nodes.length]))
  return {
    ...graph,
    names: shown,
    collapsed,
    height,
    left: spread(groups),
    right: spread(databases),
  }
}

const keyOf = ([first, ...rest]: readonly string[]): string =>
  first === undefined ? ALL : [first, ...rest.sort()].join('+')

/** Counts the endpoints that reach each name, in one pass over the rows. */
function countServing(rows: readonly EndpointRow[]) {
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
