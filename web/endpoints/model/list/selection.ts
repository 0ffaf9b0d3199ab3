import type { EndpointRow } from './endpoint-rows.ts'
import { sayCount } from './traffic.ts'

/** The addresses that are selected. They stay so while a filter hides them. */
export type Selection = ReadonlySet<string>

/** Whether a row can be selected: what is left of a removed one can not. */
export const canSelect = ({ databases }: EndpointRow): boolean => databases !== null

/** A selection with a row put in or taken out. */
export function toggleRow(selection: Selection, row: EndpointRow): Selection {
  if (!canSelect(row)) return selection
  const next = new Set(selection)
  if (!next.delete(row.address)) next.add(row.address)
  return next
}

/** A selection with all rows from one index to another, in either direction. */
export function selectRange(
  selection: Selection,
  rows: readonly EndpointRow[],
  from: number,
  to: number,
): Selection {
  const range = rows.slice(Math.min(from, to), Math.max(from, to) + 1)
  return new Set([...selection, ...range.filter(canSelect).map(({ address }) => address)])
}

/** How many of the rows that are shown are selected. */
export function howMany(
  selection: Selection,
  rows: readonly EndpointRow[],
): 'none' | 'some' | 'all' {
  let [selected, not] = [0, 0]
  for (const row of rows) {
    if (!canSelect(row)) continue
    if (selection.has(row.address)) selected += 1
    else not += 1
    if (selected > 0 && not > 0) return 'some'
  }
  return selected === 0 ? 'none' : 'all'
}

/** Selects all that are shown or, where all are, none of them; what is hidden stays as it is. */
export function toggleAll(selection: Selection, rows: readonly EndpointRow[]): Selection {
  const next = new Set(selection)
  const all = howMany(selection, rows) === 'all'
  for (const row of rows) {
    if (all) next.delete(row.address)
    else if (canSelect(row)) next.add(row.address)
  }
  return next
}

/** "12 selected", "12 selected · 3 of 12 hidden": by the filter. */
export function saySelected(count: number, hidden: number): string {
  const selected = `${sayCount(count)} selected`
  return hidden === 0 ? selected : `${selected} · ${sayCount(hidden)} of ${sayCount(count)} hidden`
}
