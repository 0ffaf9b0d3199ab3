import { useMemo, useState } from 'react'
import type { DatabaseRow } from './database-rows.ts'
import { type DatabaseSort, sortRows } from './database-sort.ts'

/**
 * Rows in the order that was asked for, as their figures were then: rows do not move by themselves.
 * They are put in order anew when another order is asked for, when databases come or go, and when
 * their figures are known at last.
 */
export function useSteadyOrder(
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
