import type { EndpointRow } from './endpoint-rows.ts'

/** Where each address stands, as of the last time that somebody had the rows put in order. */
export type Places = ReadonlyMap<string, number>

/** Rows as they are shown. */
export interface Arrangement {
  readonly rows: readonly EndpointRow[]
  /** How many came since, and stand at the end until they are put into their places. */
  readonly fresh: number
  /** Whether the order wanted is another than the one kept. */
  readonly moved: boolean
}

/** The places that rows have in that order. What drains stands behind its address. */
export function placesOf(sorted: readonly EndpointRow[]): Places {
  const places = new Map<string, number>()
  for (const { address } of sorted) {
    if (!places.has(address)) places.set(address, places.size)
  }
  return places
}

/**
 * Keeps rows in the places they have, whatever order is wanted by now: rows never reorder by
 * themselves. New ones stand at the end; one that comes back, say by an undo, has its place again.
 */
export function arrange(sorted: readonly EndpointRow[], places: Places): Arrangement {
  const known: { row: EndpointRow; place: number }[] = []
  const fresh: EndpointRow[] = []
  // While no row of a lower place follows one of a higher, both orders are the same.
  let last = -1
  let moved = false
  let scattered = false
  for (const row of sorted) {
    const place = places.get(row.address)
    if (place === undefined) {
      fresh.push(row)
      continue
    }
    if (place < last) moved = true
    if (fresh.length > 0) scattered = true
    last = place
    known.push({ row, place })
  }
  if (!moved && !scattered) return { rows: sorted, fresh: 0, moved: false }
  if (moved) known.sort((a, b) => a.place - b.place)
  return { rows: [...known.map(({ row }) => row), ...fresh], fresh: fresh.length, moved }
}
