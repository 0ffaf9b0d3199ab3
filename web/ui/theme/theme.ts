import {
  type CSSVariablesResolver,
  createTheme,
  localStorageColorSchemeManager,
  type MantineColorsTuple,
} from '@mantine/core'

/**
 * Key in `localStorage` for the theme: `light`, `dark`, or `auto`. `web/public/theme.js` reads it
 * too.
 */
export const THEME_KEY = 'gatehouse-theme'

export const themeStorage = localStorageColorSchemeManager({ key: THEME_KEY })

// Mantine requires ten shades. Only the fills are used; tokens.css defines them.
const same = (color: string): MantineColorsTuple =>
  [
    ...[color, color, color, color, color],
    ...[color, color, color, color, color],
  ] as unknown as MantineColorsTuple

/** Mantine theme with our fonts, spacing, and radii. tokens.css defines the colors. */
export const theme = createTheme({
  fontFamily: 'var(--sans)',
  fontFamilyMonospace: 'var(--mono)',
  fontSizes: { xs: '12px', sm: '13px', md: '14px', lg: '16px', xl: '20px' },
  lineHeights: { xs: '16px', sm: '20px', md: '20px', lg: '24px', xl: '28px' },
  spacing: { xs: '4px', sm: '8px', md: '12px', lg: '16px', xl: '24px' },
  radius: { xs: '4px', sm: '6px', md: '6px', lg: '8px', xl: '8px' },
  defaultRadius: 'sm',
  primaryColor: 'primary',
  colors: { primary: same('var(--primary)') },
  respectReducedMotion: true,
  cursorType: 'pointer',
})

const tokens = {
  '--mantine-color-text': 'var(--text)',
  '--mantine-color-body': 'var(--surface)',
  '--mantine-color-dimmed': 'var(--dim)',
  '--mantine-color-placeholder': 'var(--dim)',
  '--mantine-color-error': 'var(--failed)',
  '--mantine-color-anchor': 'var(--link)',
  '--mantine-color-default': 'var(--surface)',
  '--mantine-color-default-hover': 'var(--hover)',
  '--mantine-color-default-color': 'var(--text)',
  '--mantine-color-default-border': 'var(--control-line)',
  '--mantine-primary-color-filled': 'var(--primary)',
}

/**
 * Maps Mantine's color variables to our tokens, because Mantine's defaults fail WCAG AA contrast.
 */
export const resolveVariables: CSSVariablesResolver = () => ({
  variables: {},
  light: tokens,
  dark: tokens,
})
