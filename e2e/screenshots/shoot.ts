import { fileURLToPath } from 'node:url'
import type { Page } from '@playwright/test'

const FOLDER = fileURLToPath(new URL('../../docs/screenshots/', import.meta.url))

/** Widths and heights of the windows: a desktop, a small laptop or tablet, a phone. */
const WINDOWS = [
  [1440, 900],
  [1024, 768],
  [390, 844],
] as const

export interface ShootOptions {
  /**
   * Brings the page into its state at each width, because menus close when the window is resized.
   */
  readonly prepare?: () => Promise<unknown>
}

/**
 * Takes screenshots of the page at each width, in light and dark:
 * `docs/screenshots/<name>-<width>-<theme>.png`. Leaves the page at the first width, in light.
 *
 * @param name page and state, `endpoints-full`
 */
export async function shoot(page: Page, name: string, options: ShootOptions = {}): Promise<void> {
  for (const [width, height] of WINDOWS) {
    await page.setViewportSize({ width, height })
    await page.emulateMedia({ colorScheme: 'light' })
    await options.prepare?.()
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme })
      await settled(page)
      await page.screenshot({
        path: `${FOLDER}${name}-${width}-${colorScheme}.png`,
        animations: 'disabled',
      })
    }
  }
  const [[width, height]] = WINDOWS
  await page.setViewportSize({ width, height })
  await page.emulateMedia({ colorScheme: 'light' })
}

/** Waits until fonts are loaded, frames are painted and animations have ended. */
function settled(page: Page): Promise<unknown> {
  return page.evaluate(async () => {
    await document.fonts.ready
    for (let frame = 0; frame < 3; frame += 1) await new Promise(requestAnimationFrame)
    const ends = document
      .getAnimations()
      .filter(({ effect }) => effect?.getComputedTiming().endTime !== Number.POSITIVE_INFINITY)
      .map(({ finished }) => finished.catch(() => undefined))
    await Promise.all(ends)
  })
}
