import { invariant } from '../../../server/contract/invariant.ts'
import type { MapGraph, MapLine, PictureGraph } from './map-graph.ts'

/** Height of a node including its spacing, px. */
export const NODE_HEIGHT = 40

/** Number of ordering sweeps; more improve the layout little. */
const SWEEPS = 6

/**
 * Orders both sides to reduce edge crossings with the barycenter heuristic, and returns the best
 * order found. The result is deterministic and never has more crossings than the input.
 */
export function orderGraph<T extends MapGraph>(graph: T): T {
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

const withNames = <T extends MapGraph>(graph: T): T => ({
  ...graph,
  names: sortByNeighbors(graph.names, graph.lines, positions(graph.groups), 'name', 'group'),
})

const withGroups = <T extends MapGraph>(graph: T): T => ({
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

export interface MapLayout {
  /** Height of the picture, px. */
  readonly height: number
  /** Vertical center of each group. */
  readonly left: ReadonlyMap<string, number>
  /** Vertical center of each name, and of each node of collapsed names. */
  readonly right: ReadonlyMap<string, number>
}

/** Places the longer side without gaps, and each node of the shorter side beside those it joins. */
export function placeNodes({ groups, names, collapsed, lines }: PictureGraph): MapLayout {
  const databases = [...names, ...collapsed]
  const height = Math.max(groups.length, databases.length) * NODE_HEIGHT
  if (groups.length > databases.length) {
    const left = placeEvenly(groups)
    return { height, left, right: placeBeside(databases, endsOf(lines, 'name', left), height) }
  }
  const right = placeEvenly(databases)
  return { height, left: placeBeside(groups, endsOf(lines, 'group', right), height), right }
}

const placeEvenly = (nodes: readonly { readonly id: string }[]): Map<string, number> =>
  new Map(nodes.map(({ id }, at) => [id, (at + 0.5) * NODE_HEIGHT]))

/** Returns the mean position of the other ends of the lines of each node. */
function endsOf(
  lines: readonly MapLine[],
  own: 'group' | 'name',
  others: ReadonlyMap<string, number>,
): ReadonlyMap<string, number> {
  const joined = [...Map.groupBy(lines, (line) => line[own])]
  return new Map(
    joined.map(([id, each]) => [id, meanEnd(each, own === 'group' ? 'name' : 'group', others)]),
  )
}

const meanEnd = (
  lines: readonly MapLine[],
  other: 'group' | 'name',
  others: ReadonlyMap<string, number>,
): number => lines.reduce((sum, line) => sum + positionOf(others, line[other]), 0) / lines.length

/**
 * Places nodes in order, without overlaps and as near to their targets as possible (isotonic
 * regression). A node without a target follows the one before it.
 */
function placeBeside(
  nodes: readonly { readonly id: string }[],
  targets: ReadonlyMap<string, number>,
  height: number,
): Map<string, number> {
  // Nodes that touch form a block. `sum` adds the offsets of its nodes from their even places.
  const blocks: { sum: number; count: number }[] = []
  let previous = -NODE_HEIGHT / 2
  for (const [at, { id }] of nodes.entries()) {
    previous = targets.get(id) ?? previous + NODE_HEIGHT
    let block = { sum: previous - at * NODE_HEIGHT, count: 1 }
    for (
      let above = blocks.at(-1);
      above !== undefined && above.sum / above.count > block.sum / block.count;
      above = blocks.at(-1)
    ) {
      block = { sum: above.sum + block.sum, count: above.count + block.count }
      blocks.pop()
    }
    blocks.push(block)
  }
  const top = NODE_HEIGHT / 2
  const bottom = height - (nodes.length - 0.5) * NODE_HEIGHT
  const offsets = blocks.flatMap(({ sum, count }) =>
    new Array<number>(count).fill(Math.min(Math.max(sum / count, top), bottom)),
  )
  return new Map(nodes.map(({ id }, at) => [id, (offsets[at] ?? top) + at * NODE_HEIGHT]))
}
