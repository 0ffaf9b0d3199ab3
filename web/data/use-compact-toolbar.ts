import { useMediaQuery } from '@mantine/hooks'
import { usePhoneScreen } from '../ui/layout/use-narrow-screen.ts'
import { isPanelOpen } from './data-search.ts'
import { useDataLocation } from './use-data-location.ts'

/** Window widths at which an open panel takes room from the table. */
const PANEL_BESIDE_TABLE = '(max-width: 1759px)'

/** Returns whether the toolbar and the selection bar have room for icons only, and for a menu. */
export function useCompactToolbar(): boolean {
  const { search } = useDataLocation()
  const phone = usePhoneScreen()
  const squeezed = useMediaQuery(PANEL_BESIDE_TABLE, undefined, { getInitialValueInEffect: false })
  return phone || (squeezed && isPanelOpen(search))
}
