import type { EndpointRow } from '../endpoint-rows.ts'

/** Position of each address when the user last sorted the rows. */
export type RowPositions = ReadonlyMap<string, number>

/** Rows in display order. */
export interface DisplayedRows {
  readonly rows: readonly EndpointRow[]
  /** Number of rows added since the last sort, shown at the end. */
  readonly fresh: number
  /** Whether the current sort order differs from the displayed order. */
  readonly moved: boolean
}

/** Returns the positions of sorted rows. Draining rows share the position of their address. */
export function positionsOf(sorted: readonly EndpointRow[]): RowPositions {
  const positions = new Map<string, number>()
  for (const { address } of sorted) {
    if (!positions.has(address)) positions.set(address, positions.size)
  }
  return positions
}

/**
 * Keeps rows at their positions regardless of the current sort order, so that rows never move on
 * their own. New rows go to the end; a row that returns, for example after an undo, gets its old
 * position.
 */
export function keepPositions(
  sorted: readonly EndpointRow[],
  positions: RowPositions,
): DisplayedRows {
  const placed: { row: EndpointRow; position: number }[] = []
  const fresh: EndpointRow[] = []
  // Both orders agree as long as the positions are ascending.
  let last = -1
  let moved = false
  let scattered = false
  for (const row of sorted) {
    const position = positions.get(row.address)
    if (position === undefined) {
      fresh.push(row)
      continue
    }
    if (position < last) moved = true
    if (fresh.length > 0) scattered = true
    last = position
    placed.push({ row, position })
  }
  if (!moved && !scattered) return { rows: sorted, fresh: 0, moved: false }
  if (moved) placed.sort((a, b) => a.position - b.position)
  return { rows: [...placed.map(({ row }) => row), ...fresh], fresh: fresh.length, moved }
}
