import { expect, type Page, test } from '@playwright/test'
import { type BrowserErrors, watchBrowserErrors } from './browser-errors.ts'

// One worker: these tests do not reuse its browser, and each takes less time than to start another.
test.describe.configure({ mode: 'default' })

/** Opens a page with this script, under a policy that allows nothing else. */
async function open(page: Page, script: string): Promise<BrowserErrors> {
  const context = page.context()
  const browserErrors = await watchBrowserErrors(context)
  await context.route('http://page.test/**', (route) => {
    const { pathname } = new URL(route.request().url())
    if (pathname === '/gone') return route.abort('connectionrefused')
    if (pathname === '/refused') return route.fulfill({ status: 409, body: '{}' })
    if (pathname === '/script.js') {
      return route.fulfill({ contentType: 'text/javascript', body: script })
    }
    return route.fulfill({
      contentType: 'text/html',
      headers: { 'content-security-policy': "default-src 'self'" },
      body: '<!doctype html><script src="/script.js"></script>',
    })
  })
  await page.goto('http://page.test/')
  return browserErrors
}

for (const [name, script, pattern] of [
  ['an error on the console', 'console.error("broken")', /^console broken$/],
  ['an uncaught error', 'throw new Error("thrown")', /^error Error: thrown/],
  ['an unhandled rejection', 'Promise.reject(new Error("lost"))', /^error Error: lost/],
  [
    'a violation of the content security policy',
    'document.head.append(Object.assign(document.createElement("script"), { textContent: "1" }))',
    /^console content security policy: script-src-elem inline/,
  ],
  [
    'a response with an error status',
    'fetch("/refused")',
    /^http 409 GET http:\/\/page\.test\/refused$/,
  ],
  ['an encoded slash in a path', 'fetch("/a%2fb")', /^path http:\/\/page\.test\/a%2fb$/],
  [
    'a request without a response',
    'fetch("/gone").catch(() => {})',
    /^request failed GET .*\/gone: /,
  ],
] as const) {
  test(`reports ${name} unless the journey allows it`, async ({ page }) => {
    const browserErrors = await open(page, script)
    await expect
      .poll(() => browserErrors.list())
      .toEqual(expect.arrayContaining([expect.stringMatching(pattern)]))
    browserErrors.allow(pattern)
    expect(browserErrors.list().filter((browserError) => pattern.test(browserError))).toEqual([])
  })
}

test('reports errors in a window that is opened later', async ({ page }) => {
  const browserErrors = await open(page, 'window.later = () => console.error("later")')
  const other = await page.context().newPage()
  await other.goto('http://page.test/')
  await other.evaluate('window.later()')
  await expect.poll(() => browserErrors.list()).toEqual(['console later'])
})

test('ignores a request that the page cancelled', async ({ page }) => {
  const browserErrors = await open(
    page,
    'const c = new AbortController(); fetch("/x", c).catch(() => { document.title = "gave up" }); c.abort()',
  )
  await expect(page).toHaveTitle('gave up')
  expect(browserErrors.list()).toEqual([])
})
