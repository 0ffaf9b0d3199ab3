import { useMediaQuery } from '@mantine/hooks'

export interface TableLayout {
  /** Whether there is room for three chips and for the sparkline. */
  readonly wide: boolean
  /** Whether the panel is open beside the table. It shows the figures that have no room here. */
  readonly beside: boolean
  /** Height of every row, px. */
  readonly rowHeight: number
}

/** Window widths at which addresses fit beside three chips and the sparkline. */
const WIDE = '(min-width: 1440px)'

/**
 * Window widths at which the open panel takes room from the table. In narrower windows the panel
 * covers the page. Keep in step with side-panel.module.css.
 */
const PANEL_BESIDE_TABLE = '(min-width: 1240px) and (max-width: 1759px)'

const now = { getInitialValueInEffect: false }

/** Returns what the table has room for in the current window. */
export function useTableLayout(panelOpen: boolean): TableLayout {
  const wide = useMediaQuery(WIDE, undefined, now)
  const squeezed = useMediaQuery(PANEL_BESIDE_TABLE, undefined, now)
  const coarse = useMediaQuery('(pointer: coarse)', undefined, now)
  const beside = squeezed && panelOpen
  return { wide: wide && !beside, beside, rowHeight: coarse ? 48 : 40 }
}
