import type { MouseEvent } from 'react'

/**
 * Returns a click handler that opens a row. It ignores clicks on controls in the row, and clicks
 * that end a text selection.
 */
export const onRowClick =
  <Row extends { readonly id: string }>(rows: readonly Row[], open: (row: Row) => void) =>
  ({ target }: MouseEvent): void => {
    if (!(target instanceof Element) || target.closest('button, a, input, label') !== null) return
    if (getSelection()?.isCollapsed === false) return
    const id = target.closest<HTMLElement>('[data-row]')?.dataset.row
    const row = rows.find((one) => one.id === id)
    if (row !== undefined) open(row)
  }
