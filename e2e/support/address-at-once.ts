import type { Page } from '@playwright/test'

/**
 * Begins to note what the address asks for when something has been typed, before the page is drawn:
 * whoever loads it anew in that moment is to find it. The function tells the last of it.
 */
export async function addressAtOnce(page: Page): Promise<() => Promise<string | undefined>> {
  await page.evaluate(() =>
    addEventListener('input', () => {
      document.body.dataset.address = location.search
    }),
  )
  return () => page.evaluate(() => document.body.dataset.address)
}
