import type { MouseEvent } from 'react'

/**
 * Returns a click handler that opens a row. It ignores clicks on controls in the row, clicks that
 * end a text selection, and the second click of a double-click.
 */
export const onRowClick =
  <Row extends { readonly id: string }>(rows: readonly Row[], open: (row: Row) => void) =>
  ({ target, detail }: MouseEvent): void => {
    // The first click may have been on another element, such as the button for the next page.
    if (detail > 1) return
    if (!(target instanceof Element) || target.closest('button, a, input, label') !== null) return
    if (getSelection()?.isCollapsed === false) return
    const id = target.closest<HTMLElement>('[data-row]')?.dataset.row
    const row = rows.find((one) => one.id === id)
    if (row !== undefined) open(row)
  }
