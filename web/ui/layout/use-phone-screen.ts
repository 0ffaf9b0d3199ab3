import { useMediaQuery } from '@mantine/hooks'

/** Returns whether the screen is at most 640 px wide. CSS uses `(max-width: 640px)`. */
export const usePhoneScreen = (): boolean =>
  useMediaQuery('(max-width: 640px)', undefined, { getInitialValueInEffect: false })
