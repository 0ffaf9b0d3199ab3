import { invariant } from '../../../server/contract/invariant.ts'
import type { MapGraph, MapLine } from './map-graph.ts'

/** Number of ordering sweeps; more improve the layout little. */
const SWEEPS = 6

/**
 * Orders both sides to reduce edge crossings with the barycenter heuristic, and returns the best
 * order found. The result is deterministic and never has more crossings than the input.
 */
export function orderGraph(graph: MapGraph): MapGraph {
  let best = graph
  let fewest = countCrossings(graph)
  let now = graph
  for (let sweep = 0; sweep < SWEEPS && fewest > 0; sweep += 1) {
    now = sweep % 2 === 0 ? withNames(now) : withGroups(now)
    const crossings = countCrossings(now)
    if (crossings < fewest) {
      best = now
      fewest = crossings
    }
  }
  return best
}

/** Counts the pairs of edges that cross. */
export function countCrossings({ groups, names, lines }: MapGraph): number {
  const left = positions(groups)
  const right = positions(names)
  const ends = lines.map(
    ({ group, name }) => [positionOf(left, group), positionOf(right, name)] as const,
  )
  let crossings = 0
  ends.forEach(([a, b], index) => {
    for (const [c, d] of ends.slice(index + 1)) if ((a - c) * (b - d) < 0) crossings += 1
  })
  return crossings
}

const withNames = (graph: MapGraph): MapGraph => ({
  ...graph,
  names: sortByNeighbors(graph.names, graph.lines, positions(graph.groups), 'name', 'group'),
})

const withGroups = (graph: MapGraph): MapGraph => ({
  ...graph,
  groups: sortByNeighbors(graph.groups, graph.lines, positions(graph.names), 'group', 'name'),
})

function sortByNeighbors<T extends { readonly id: string }>(
  nodes: readonly T[],
  lines: readonly MapLine[],
  others: ReadonlyMap<string, number>,
  own: 'group' | 'name',
  other: 'group' | 'name',
): T[] {
  const joined = Map.groupBy(lines, (line) => line[own])
  // Unconnected nodes go to the end.
  const middle = ({ id }: T) => {
    const ends = (joined.get(id) ?? []).map((line) => positionOf(others, line[other]))
    if (ends.length === 0) return Number.POSITIVE_INFINITY
    return ends.reduce((sum, place) => sum + place, 0) / ends.length
  }
  const keyed = nodes.map((node) => ({ node, at: middle(node) }))
  return keyed.sort((a, b) => (a.at === b.at ? 0 : a.at - b.at)).map(({ node }) => node)
}

const positions = (nodes: readonly { readonly id: string }[]): Map<string, number> =>
  new Map(nodes.map(({ id }, index) => [id, index]))

/** Returns the position of the node with this id. */
export function positionOf(positions: ReadonlyMap<string, number>, id: string): number {
  const position = positions.get(id)
  invariant(position !== undefined, 'every edge joins nodes of the map')
  return position
}
