import type { BrowserContext, Page, Route } from '@playwright/test'

/** A request that the console does not send. The server responds with 200. */
const PROBE = { path: '/_api/health/live', method: 'HEAD', intercepted: 204 }

const patched = new WeakSet<Page>()

/**
 * Makes `page.route` of all pages resolve only when it is in effect. Chromium confirms a route before
 * the page intercepts its requests: while a page was busy, 8 % of the requests that a key press
 * sent immediately afterwards reached the server.
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
  // The content security policies of other pages, such as the sign-in page, allow no requests.
  // Documents that are loaded later intercept theirs from the start.
  if (!new URL(page.url()).pathname.startsWith('/_console/')) return
  const respond = (each: Route) =>
    each.request().method() === PROBE.method
      ? each.fulfill({ status: PROBE.intercepted })
      : each.fallback()
  const url = new URL(PROBE.path, page.url()).href
  await route(url, respond)
  await page.evaluate(async ({ path, method, intercepted }) => {
    const isIntercepted = () =>
      fetch(path, { method }).then(
        ({ status }) => status === intercepted,
        () => false,
      )
    while (!(await isIntercepted()));
  }, PROBE)
  await page.unroute(url, respond)
}
