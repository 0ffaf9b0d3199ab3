import type { Page, Route } from '@playwright/test'

export interface HeldRequests {
  /** Resolves when the page has sent the first request. */
  readonly requested: Promise<void>
  /** Lets the held requests and all later ones proceed. */
  readonly release: () => void
}

/**
 * Holds the requests for a URL until they are released.
 *
 * @param proceed what then happens to each. By default, it continues to the server.
 */
export async function holdRequests(
  page: Page,
  url: string | RegExp | ((url: URL) => boolean),
  proceed: (route: Route) => Promise<void> = (route) => route.continue(),
): Promise<HeldRequests> {
  const requested = Promise.withResolvers<void>()
  const released = Promise.withResolvers<void>()
  await page.route(url, async (route) => {
    requested.resolve()
    await released.promise
    await proceed(route)
  })
  return { requested: requested.promise, release: released.resolve }
}
