import type { Page } from '@playwright/test'

/**
 * Delays requests to these URLs, so that the page keeps loading. Returns a function that releases
 * them.
 */
export async function hold(page: Page, urls: string): Promise<() => Promise<void>> {
  let release = () => {}
  const released = new Promise<void>((resolve) => {
    release = resolve
  })
  await page.route(urls, async (route) => {
    await released
    // The request may have been cancelled by then.
    await route.continue().catch(() => undefined)
  })
  return async () => {
    release()
    await page.unroute(urls)
  }
}

/** Responds to these URLs as a server without its store does. Returns a function that stops it. */
export async function refuse(page: Page, urls: string): Promise<() => Promise<void>> {
  await page.route(urls, (route) =>
    route.fulfill({
      status: 503,
      json: {
        error: true,
        code: 503,
        errorNum: 503,
        errorMessage: 'The database is unavailable. Try again.',
      },
    }),
  )
  return () => page.unroute(urls)
}

/** Changes the role in session responses, so that the page shows what this role sees. */
export async function becomes(page: Page, role: 'viewer' | 'operator' | 'pending'): Promise<void> {
  await page.route('**/_api/session', async (route) => {
    const response = await route.fetch()
    const session = await response.json()
    if (session !== null) session.person.role = role
    await route.fulfill({ response: response, json: session })
  })
}
