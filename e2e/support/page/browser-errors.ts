import type { BrowserContext } from '@playwright/test'

/** Errors in the browser while a journey runs. */
export interface BrowserErrors {
  /**
   * Allows an expected error, such as a rejected request. An error is a line:
   * `http 409 POST http://127.0.0.1:20000/_api/endpoint`, `console …`, `error …` (uncaught),
   * `request failed …`, `path …` (rejected by some proxies).
   */
  allow(pattern: RegExp): void
  /** Returns the errors so far that were not allowed. */
  list(): readonly string[]
}

/**
 * Watches every page of a browser context, including later ones, for console errors, violations of
 * the content security policy, uncaught errors, responses with status 400 or above, requests
 * without a response, and encoded slashes in paths.
 */
export async function watchBrowserErrors(context: BrowserContext): Promise<BrowserErrors> {
  const allowed: RegExp[] = []
  const seen: string[] = []

  context.on('console', (message) => {
    if (message.type() !== 'error') return
    // The events "response" and "requestfailed" report the same in more detail.
    if (message.text().startsWith('Failed to load resource')) return
    seen.push(`console ${message.text()}`)
  })
  context.on('weberror', (webError) => {
    seen.push(`error ${webError.error().stack ?? webError.error().message}`)
  })
  context.on('request', (request) => {
    // Apache and Traefik reject an encoded slash.
    if (/%2F/i.test(new URL(request.url()).pathname)) seen.push(`path ${request.url()}`)
  })
  context.on('response', (response) => {
    if (response.status() < 400) return
    seen.push(`http ${response.status()} ${response.request().method()} ${response.url()}`)
  })
  context.on('requestfailed', (request) => {
    const reason = request.failure()?.errorText ?? ''
    // The page cancelled the request: it was closed, or closed its event stream.
    if (reason === 'net::ERR_ABORTED') return
    seen.push(`request failed ${request.method()} ${request.url()}: ${reason}`)
  })
  // Violations of a report-only policy are not always logged to the console.
  await context.addInitScript(() => {
    document.addEventListener('securitypolicyviolation', (event) => {
      // biome-ignore lint/suspicious/noConsole: runs in the page, where the test listens to it
      console.error(
        `content security policy: ${event.effectiveDirective} ${event.blockedURI} ${event.sample}`,
      )
    })
  })

  return {
    allow: (pattern) => allowed.push(pattern),
    list: () =>
      seen.filter((browserError) => !allowed.some((pattern) => pattern.test(browserError))),
  }
}
