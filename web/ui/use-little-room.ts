import { useMediaQuery } from '@mantine/hooks'

/**
 * Whether there is room for one thing at a time: a panel fills the screen, and a table of many columns
 * is a list. So it is on a phone, and on a screen of 1440 px at 200 %. Style sheets say it as
 * `(max-width: 960px)`.
 */
export const useLittleRoom = (): boolean =>
  useMediaQuery('(max-width: 960px)', undefined, { getInitialValueInEffect: false })
