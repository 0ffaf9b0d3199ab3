import type { Page } from '@playwright/test'

/**
 * Starts to record the query string on each input, before the page is painted, because a reload at
 * that moment must keep the input. Returns a function that reads the last recorded value.
 */
export async function watchUrl(page: Page): Promise<() => Promise<string | undefined>> {
  await page.evaluate(() =>
    addEventListener('input', () => {
      document.body.dataset.address = location.search
    }),
  )
  return () => page.evaluate(() => document.body.dataset.address)
}
