import { readdirSync } from 'node:fs'
import { join } from 'node:path'

/**
 * File names of the console's fonts, as `vite build` names them. Pages that the server renders use
 * the same files, so a browser that has opened the console has them cached.
 */
export interface PageFonts {
  readonly sans: string
  readonly mono: string
}

/**
 * Finds the fonts for Latin letters.
 *
 * @param folder the output of `vite build`.
 * @returns undefined if the files are missing; pages then use system fonts.
 */
export function findPageFonts(folder: string): PageFonts | undefined {
  const files = listFiles(join(folder, 'assets'))
  const sans = files.find((file) => file.startsWith('geist-latin-wght-'))
  const mono = files.find((file) => file.startsWith('geist-mono-latin-wght-'))
  return sans === undefined || mono === undefined ? undefined : { sans, mono }
}

/** Returns the `@font-face` rules, with the family names that the console uses. */
export const fontFaces = ({ sans, mono }: PageFonts): string =>
  fontFace('Geist Variable', sans) + fontFace('Geist Mono Variable', mono)

const fontFace = (family: string, file: string) => `@font-face {
  font-family: "${family}";
  font-display: swap;
  font-weight: 100 900;
  src: url("/_console/assets/${file}") format("woff2");
}
`

function listFiles(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}
