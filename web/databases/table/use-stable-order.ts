import { useMemo, useState } from 'react'
import type { DatabaseRow } from '../database-rows.ts'
import { type DatabaseSort, sortRows } from './database-sort.ts'

/**
 * Returns the rows in a stable order. Rows are sorted again only when the sort order changes, when
 * databases are created or dropped, or when a size becomes known.
 */
export function useStableOrder(
  rows: readonly DatabaseRow[],
  sort: DatabaseSort,
): readonly DatabaseRow[] {
  const reason = useMemo(
    () => JSON.stringify([sort, rows.map(({ name, bytes }) => [name, bytes !== null])]),
    [rows, sort],
  )
  const [order, setOrder] = useState<{ reason: string; names: readonly string[] }>()
  let names = order?.names ?? []
  if (order?.reason !== reason) {
    names = sortRows(rows, sort).map(({ name }) => name)
    setOrder({ reason, names })
  }
  const found = new Map(rows.map((row) => [row.name, row]))
  return names.flatMap((name) => found.get(name) ?? [])
}
