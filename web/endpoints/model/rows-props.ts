import type { MouseEvent } from 'react'
import type { EndpointRow } from './endpoint-rows.ts'
import type { LiveFigures } from './live-figures.ts'
import type { RowActions } from './row-keys.ts'
import type { Selection } from './selection.ts'

/** What the table, and the list for narrow screens, show and do. */
export interface EndpointRowsProps {
  readonly rows: readonly EndpointRow[]
  /** The address through which this page came. */
  readonly here: string | undefined
  /** The names of all databases; `undefined` while they are not known. */
  readonly databases: readonly string[] | undefined
  readonly figures: LiveFigures
  /** The row whose menu is open. */
  readonly menuOf: string | undefined
  /** The row whose panel is open. */
  readonly panelOf: string | undefined
  readonly onMenu: (row: EndpointRow, button: HTMLElement) => void
  readonly actions: RowActions
  /** `undefined` where nothing can be selected. */
  readonly selection: Selection | undefined
  readonly onSelect: (row: EndpointRow, extend: boolean) => void
  readonly onSelectIndex: (index: number, extend: boolean) => void
  /** A row is looked for by its id, to get the focus. */
  readonly onLookFor: (id: string) => void
}

/** A click on a row, but not on what has a use of its own there, nor at the end of marking text. */
export const onRowClick =
  (rows: readonly EndpointRow[], open: (row: EndpointRow) => void) =>
  ({ target }: MouseEvent): void => {
    if (!(target instanceof Element) || target.closest('button, a, input, label') !== null) return
    if (getSelection()?.isCollapsed === false) return
    const id = target.closest<HTMLElement>('[data-row]')?.dataset.row
    const row = rows.find((one) => one.id === id)
    if (row !== undefined) open(row)
  }
