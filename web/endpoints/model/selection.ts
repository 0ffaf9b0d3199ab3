import { formatCount } from '../../ui/text/format-number.ts'
import type { EndpointRow } from './endpoint-rows.ts'

/** The bulk actions, as named in the URL. */
export const BULK_ACTIONS = ['add', 'remove-database', 'turn-off', 'turn-on', 'remove'] as const

export type BulkAction = (typeof BULK_ACTIONS)[number]

/** The selected addresses. Rows hidden by a filter stay selected. */
export type Selection = ReadonlySet<string>

/** Returns whether a row can be selected. A removed endpoint cannot. */
export const canSelect = ({ databases }: EndpointRow): boolean => databases !== null

/** Returns the selection with a row added or removed. */
export function toggleRow(selection: Selection, row: EndpointRow): Selection {
  if (!canSelect(row)) return selection
  const next = new Set(selection)
  if (!next.delete(row.address)) next.add(row.address)
  return next
}

/** Returns the selection with all rows between two indexes added, in either direction. */
export function selectRange(
  selection: Selection,
  rows: readonly EndpointRow[],
  from: number,
  to: number,
): Selection {
  const range = rows.slice(Math.min(from, to), Math.max(from, to) + 1)
  return new Set([...selection, ...range.filter(canSelect).map(({ address }) => address)])
}

/** Returns whether none, some or all of the displayed rows are selected. */
export function selectionState(
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

/**
 * Selects all displayed rows, or deselects them if all are selected. Hidden rows stay as they are.
 */
export function toggleAll(selection: Selection, rows: readonly EndpointRow[]): Selection {
  const next = new Set(selection)
  const all = selectionState(selection, rows) === 'all'
  for (const row of rows) {
    if (all) next.delete(row.address)
    else if (canSelect(row)) next.add(row.address)
  }
  return next
}

/** Formats the selection: "12 selected", or "12 selected · 3 of 12 hidden" with a filter. */
export function formatSelected(count: number, hidden: number): string {
  const selected = `${formatCount(count)} selected`
  return hidden === 0
    ? selected
    : `${selected} · ${formatCount(hidden)} of ${formatCount(count)} hidden`
}
