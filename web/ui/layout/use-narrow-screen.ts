import { useMediaQuery } from '@mantine/hooks'

/**
 * Returns whether the screen is at most 960 px wide, such as a phone or a 1440 px screen at 200 %.
 * Panels then fill the screen and tables become lists. Always false in print. CSS uses `(max-width:
 * 960px)`.
 */
export const useNarrowScreen = (): boolean =>
  useMediaQuery('screen and (max-width: 960px)', undefined, { getInitialValueInEffect: false })

/** Returns whether the screen is at most 640 px wide. CSS uses `(max-width: 640px)`. */
export const usePhoneScreen = (): boolean =>
  useMediaQuery('(max-width: 640px)', undefined, { getInitialValueInEffect: false })
