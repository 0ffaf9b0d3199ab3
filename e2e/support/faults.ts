import type { BrowserContext } from '@playwright/test'

/** What goes wrong in the browser while a journey runs. */
export interface Faults {
  /**
   * Says that the journey expects a fault, such as an answer that is a refusal. A fault is a line:
   * `http 409 POST http://127.0.0.1:20000/_api/endpoint`, `console …`, `error …` (not caught),
   * `request failed …`.
   */
  allow(pattern: RegExp): void
  /** The faults so far that were not allowed. */
  list(): readonly string[]
}

/**
 * Watches every page of a browser context, also those opened later, for errors on the console,
 * violations of the content security policy, errors that nobody caught, answers of status 400 and
 * above, and requests that got no answer.
 */
export async function watchFaults(context: BrowserContext): Promise<Faults> {
  const allowed: RegExp[] = []
  const seen: string[] = []

  context.on('console', (message) => {
    if (message.type() !== 'error') return
    // Chromium repeats on the console what "response" and "requestfailed" tell better.
    if (message.text().startsWith('Failed to load resource')) return
    seen.push(`console ${message.text()}`)
  })
  context.on('weberror', (webError) => {
    seen.push(`error ${webError.error().stack ?? webError.error().message}`)
  })
  context.on('response', (response) => {
    if (response.status() < 400) return
    seen.push(`http ${response.status()} ${response.request().method()} ${response.url()}`)
  })
  context.on('requestfailed', (request) => {
    const reason = request.failure()?.errorText ?? ''
    // The page itself gave it up: it was left, or closed its event stream.
    if (reason === 'net::ERR_ABORTED') return
    seen.push(`request failed ${request.method()} ${request.url()}: ${reason}`)
  })
  // A violation of a policy that only reports is not always written to the console.
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
    list: () => seen.filter((fault) => !allowed.some((pattern) => pattern.test(fault))),
  }
}
