import type { Page } from '@playwright/test'

/** Lets requests to these URLs wait, so that the page loads and loads; the answer lets them go. */
export async function hold(page: Page, urls: string): Promise<() => Promise<void>> {
  let release = () => {}
  const released = new Promise<void>((resolve) => {
    release = resolve
  })
  await page.route(urls, async (route) => {
    await released
    // What asked may be gone by then.
    await route.continue().catch(() => undefined)
  })
  return async () => {
    release()
    await page.unroute(urls)
  }
}

/** Answers requests to these URLs as a server without its store does; the answer ends that. */
export async function refuse(page: Page, urls: string): Promise<() => Promise<void>> {
  await page.route(urls, (route) =>
    route.fulfill({
      status: 503,
      json: {
        error: true,
        code: 503,
        errorNum: 503,
        errorMessage: 'The store cannot be reached at the moment. Try again.',
      },
    }),
  )
  return () => page.unroute(urls)
}

/** The page is told that whoever looks is somebody with this role. */
export async function becomes(page: Page, role: 'viewer' | 'operator' | 'pending'): Promise<void> {
  await page.route('**/_api/session', async (route) => {
    const answer = await route.fetch()
    const session = await answer.json()
    if (session !== null) session.person.role = role
    await route.fulfill({ response: answer, json: session })
  })
}
