import { existsSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

/** The file that stores the path of a working Chromium. */
export const CHROMIUM_RECORD = fileURLToPath(
  new URL('../../node_modules/.cache/gatehouse/chromium', import.meta.url),
)

/** Disable Chromium's background requests, which tests do not need and closed networks block. */
export const CHROMIUM_ARGS: string[] = [
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--no-first-run',
]

/**
 * Returns the Chromium to use: `GATEHOUSE_CHROMIUM`, or the one found before; `undefined` leaves
 * the choice to Playwright.
 */
export function chromiumPath(): string | undefined {
  const named = process.env.GATEHOUSE_CHROMIUM
  if (named !== undefined && named !== '') return named
  if (!existsSync(CHROMIUM_RECORD)) return undefined
  const found = readFileSync(CHROMIUM_RECORD, 'utf8').trim()
  return existsSync(found) ? found : undefined
}
