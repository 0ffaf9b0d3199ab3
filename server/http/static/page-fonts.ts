import { readdirSync } from 'node:fs'
import { join } from 'node:path'

/**
 * The console's fonts for the pages that the server makes itself: the files as `vite build` has named
 * them, which a browser that comes from the console has already.
 */
export interface PageFonts {
  readonly sans: string
  readonly mono: string
}

/**
 * Looks for {@link PageFonts}, Latin letters alone.
 *
 * @param folder where `vite build` has put the console.
 * @returns undefined where they are not: the pages are shown in the fonts of the system.
 */
export function findPageFonts(folder: string): PageFonts | undefined {
  const files = listFiles(join(folder, 'assets'))
  const sans = files.find((file) => file.startsWith('geist-latin-wght-'))
  const mono = files.find((file) => file.startsWith('geist-mono-latin-wght-'))
  return sans === undefined || mono === undefined ? undefined : { sans, mono }
}

/** The rules of a style sheet that give them the names that they have in the console. */
export const fontFaces = ({ sans, mono }: PageFonts): string =>
  face('Geist Variable', sans) + face('Geist Mono Variable', mono)

const face = (family: string, file: string) => `@font-face {
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
