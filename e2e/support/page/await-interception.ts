import type { BrowserContext, Page, Route } from '@playwright/test'

/** A request that the console does not make, and that every server answers with 200. */
const PROBE = { path: '/_api/health/live', method: 'HEAD', intercepted: 204 }

const patched = new WeakSet<Page>()

/**
 * Makes `page.route` of each page resolve only when it is in effect. Chromium confirms it before the
 * page intercepts its requests, so that a key pressed immediately after it could still reach the
 * server: up to 8 % of requests while the page is busy.
 */
export function awaitInterception(context: BrowserContext): void {
  const patch = (page: Page) => {
    if (patched.has(page)) return
    patched.add(page)
    const route = page.route.bind(page)
    page.route = async (...options) => {
      const added = await route(...options)
      await probe(page, route)
      return added
    }
  }
  for (const page of context.pages()) patch(page)
  context.on('page', patch)
}

/** Sends requests from the page until one is intercepted. */
async function probe(page: Page, route: Page['route']): Promise<void> {
  // A document that is loaded later intercepts its requests from the start. The policies of the
  // other pages, such as the sign-in page, let them send none.
  if (page.url() === 'about:blank' || !new URL(page.url()).pathname.startsWith('/_console/')) return
  const answer = (each: Route) =>
    each.request().method() === PROBE.method
      ? each.fulfill({ status: PROBE.intercepted })
      : each.fallback()
  const url = new URL(PROBE.path, page.url()).href
  await route(url, answer)
  await page.evaluate(async ({ path, method, intercepted }) => {
    while ((await fetch(path, { method })).status !== intercepted);
  }, PROBE)
  await page.unroute(url, answer)
}
