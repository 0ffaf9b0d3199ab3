import { useMediaQuery } from '@mantine/hooks'
import { isPanelOpen } from './data-search.ts'
import { useDataLocation } from './use-data-location.ts'

/** Phones, and window widths at which an open panel takes room from the table. */
const PHONE = '(max-width: 640px)'
const PANEL_BESIDE_TABLE = '(max-width: 1759px)'

/** Returns whether the toolbar and the selection bar have room for icons only, and for a menu. */
export function useCompactToolbar(): boolean {
  const { search } = useDataLocation()
  const now = { getInitialValueInEffect: false }
  const phone = useMediaQuery(PHONE, undefined, now)
  const squeezed = useMediaQuery(PANEL_BESIDE_TABLE, undefined, now)
  return phone || (squeezed && isPanelOpen(search))
}
