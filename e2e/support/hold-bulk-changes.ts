import type { Page } from '@playwright/test'

/**
 * Keeps the bulk changes of a page from ending until the returned function is called. Call it before
 * the page is opened.
 */
export async function holdBulkChanges(page: Page): Promise<() => Promise<void>> {
  await page.addInitScript(() => {
    const { fetch } = window
    const released = new Promise<void>((resolve) => Object.assign(window, { release: resolve }))
    window.fetch = async (input, init) => {
      const response = await fetch(input, init)
      if (!String(input).includes('/endpoint-change') || response.body === null) return response
      const aborted = new Promise<void>((_, reject) => {
        init?.signal?.addEventListener('abort', () => reject(init.signal?.reason))
      })
      const flush = () => Promise.race([released, aborted])
      return new Response(response.body.pipeThrough(new TransformStream({ flush })), response)
    }
  })
  return () => page.evaluate(() => (window as unknown as { release(): void }).release())
}
