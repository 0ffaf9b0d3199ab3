import type { Page } from '@playwright/test'
import { consolePath, rowOf } from './support/endpoints-page.ts'
import { expectAccessible } from './support/expect-accessible.ts'
import { expect, type Gatehouse, test } from './support/gatehouse.ts'

const isLive = (page: Page) => expect(page.getByText('Live', { exact: true })).toBeVisible()

/** Adds an endpoint outside of the browser, and tells its address. */
async function addEndpoint(gatehouse: Gatehouse): Promise<string> {
  const endpoint = `tcp://127.0.0.1:${await gatehouse.freePort()}`
  await gatehouse.post('/_db/_system/_api/endpoint', { endpoint, databases: ['blog'] })
  return endpoint
}

test('Eight tabs share one stream: all of them work, and a change shows in each', async ({
  page,
  context,
  gatehouse,
}) => {
  test.slow()
  await gatehouse.signIn(page, consolePath)
  const tabs = [page]
  // A browser has six connections to a server: with a stream each, the seventh tab would never load.
  for (let n = 1; n < 8; n++) {
    const tab = await context.newPage()
    await tab.goto(consolePath)
    tabs.push(tab)
  }
  await Promise.all(tabs.map(isLive))
  const address = await addEndpoint(gatehouse)
  await Promise.all(tabs.map((tab) => expect(rowOf(tab, address)).toContainText('Listening')))

  // The tab that opened the stream goes; the others keep it.
  await page.close()
  const next = await addEndpoint(gatehouse)
  await Promise.all(tabs.slice(1).map((tab) => expect(rowOf(tab, next)).toContainText('Listening')))
})

test('Without shared workers a page has a stream of its own', async ({ page, gatehouse }) => {
  await page.addInitScript(() => Reflect.deleteProperty(globalThis, 'SharedWorker'))
  await gatehouse.signIn(page, consolePath)
  await isLive(page)
  const address = await addEndpoint(gatehouse)
  await expect(rowOf(page, address)).toContainText('Listening')
})

// How soon is measured by bench/console.ts.
test('A change by somebody else shows in an open console at once', async ({
  page,
  gatehouse,
  browser,
}) => {
  await gatehouse.signIn(page, consolePath)
  const elsewhere = await browser.newContext({ baseURL: gatehouse.url })
  const there = await elsewhere.newPage()
  await gatehouse.signIn(there, '/_console/access/tokens')
  await Promise.all([isLive(page), isLive(there)])

  const address = await addEndpoint(gatehouse)
  await expect(rowOf(page, address)).toContainText('Listening')

  await gatehouse.post('/_db/_system/_api/token', { name: 'nightly', role: 'viewer' })
  await expect(there.getByText('nightly')).toBeVisible()

  await page.goto('/_console/activity')
  await isLive(page)
  await expect(page.getByRole('table', { name: /activity/i })).toContainText('nightly')
  await addEndpoint(gatehouse)
  await expect(page.getByRole('button', { name: /1 new/ })).toBeVisible()
  await elsewhere.close()
})

test('The server is killed and started again: the page says so, and recovers by itself', async ({
  page,
  gatehouse,
  faults,
}) => {
  test.slow()
  faults.allow(/^request failed /)
  await gatehouse.signIn(page, consolePath)
  await isLive(page)
  await gatehouse.kill()
  await expect(page.getByText(/No connection since \d\d:\d\d:\d\d/)).toBeVisible()
  await expect(page.getByText(/Trying again in \d+ s\./)).toBeVisible()
  await expect(page.getByText('What you see may be out of date.')).toBeVisible()
  await expectAccessible(page)

  // Tried now, and in vain: it says so still.
  await page.getByRole('button', { name: 'Try now' }).click()
  await expect(page.getByText(/Trying again in \d+ s\./)).toBeVisible()

  await gatehouse.restart()
  const address = await addEndpoint(gatehouse)
  await expect(page.getByText(/No connection since/)).toBeHidden({ timeout: 45_000 })
  // Nobody told of it while there was no connection: everything was read anew.
  await expect(rowOf(page, address)).toContainText('Listening')

  await isLive(page)
})
