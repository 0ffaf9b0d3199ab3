import { expect, type Page, type Response } from '@playwright/test'

/** A page without state, which unmounts the page before it. */
const NO_SUCH_PAGE = '/_console/no/such/page'

/**
 * Opens a path of the console. If the page shows the console already, navigates within it, which
 * takes a fraction of the time, and leaves no state of the page before: no selection, open menu,
 * draft or window size. Returns the response if the page was loaded.
 */
export async function visit(page: Page, path: string): Promise<Response | undefined> {
  if (page.url() === 'about:blank') return (await page.goto(path)) ?? undefined
  const navigate = (to: string) => page.evaluate((url) => history.pushState(null, '', url), to)
  await navigate(NO_SUCH_PAGE)
  await expect(page.locator('main h1')).toHaveText('Page not found')
  await page.evaluate(() => sessionStorage.clear())
  await page.setViewportSize({ width: 1440, height: 900 })
  await navigate(path)
  return undefined
}
