import type { Page } from '@playwright/test'
import { chooseEveryDatabase, consolePath, rowOf } from './support/page/endpoints-page.ts'
import { expect, type Gatehouse, test } from './support/server/gatehouse.ts'

const isLive = (page: Page) => expect(page.getByText('Live', { exact: true })).toBeVisible()

const setVisibility = (page: Page, state: DocumentVisibilityState) =>
  page.evaluate((to) => {
    Object.defineProperty(document, 'visibilityState', { value: to, configurable: true })
    document.dispatchEvent(new Event('visibilitychange'))
  }, state)

/** Adds an endpoint with the API; returns its address. */
async function addEndpoint(gatehouse: Gatehouse): Promise<string> {
  const endpoint = `tcp://127.0.0.1:${await gatehouse.freePort()}`
  await gatehouse.post('/_db/_system/_api/endpoint', { endpoint, databases: ['blog'] })
  return endpoint
}

test('A hidden page closes its stream after 30 s, and catches up when it is shown', async ({
  page,
  gatehouse,
}) => {
  await page.clock.install()
  await gatehouse.signIn(page, consolePath)
  await isLive(page)
  await setVisibility(page, 'hidden')
  await page.clock.runFor(30_000)
  const address = await addEndpoint(gatehouse)
  await expect(page.getByText('Connecting…')).toBeVisible()
  await setVisibility(page, 'visible')
  await isLive(page)
  await expect(rowOf(page, address)).toContainText('Listening')
})

test('The page reports a killed server and recovers after its restart', async ({
  page,
  gatehouse,
  browserErrors,
}) => {
  test.slow()
  browserErrors.allow(/^request failed /)
  await gatehouse.signIn(page, consolePath)
  await isLive(page)
  await gatehouse.kill()
  await expect(page.getByText(/No connection since \d\d:\d\d:\d\d/)).toBeVisible()
  await expect(page.getByText(/Retrying in \d+ s\./)).toBeVisible()
  await expect(page.getByText('The data shown may be out of date.')).toBeVisible()

  // A manual retry fails, and the page still shows the lost connection.
  await page.getByRole('button', { name: 'Try now' }).click()
  await expect(page.getByText(/Retrying in \d+ s\./)).toBeVisible()

  await gatehouse.restart()
  const address = await addEndpoint(gatehouse)
  await expect(page.getByText(/No connection since/)).toBeHidden()
  // There was no event without a connection, so all data was reloaded.
  await expect(rowOf(page, address)).toContainText('Listening')

  await isLive(page)
})

test('A read-only store is reported with its reason until it accepts changes', async ({
  page,
  gatehouse,
  browserErrors,
}) => {
  browserErrors.allow(/^http 507 /)
  const reason = 'Changes have been rejected since 2026-01-01T00:00:00.000Z: the disk is full.'
  await page.clock.install()
  await gatehouse.signIn(page, `${consolePath}/new`)
  const banner = page.getByText('Changes cannot be saved at the moment.')
  await expect(page.getByText('Live', { exact: true })).toBeVisible()
  await expect(banner).toBeHidden()
  // Simulates a full disk: each change fails, and the health check has the reason.
  await page.route('**/_api/health/live', (route) =>
    route.fulfill({
      json: { alive: true, ready: true, waiting: 0, writable: false, reason },
    }),
  )
  await page.route('**/_api/endpoint', (route) =>
    route.request().method() === 'GET'
      ? route.fallback()
      : route.fulfill({
          status: 507,
          json: { error: true, code: 507, errorNum: 507, errorMessage: 'The disk is full.' },
        }),
  )
  await page.getByLabel('Port').fill(String(await gatehouse.freePort()))
  await chooseEveryDatabase(page)
  await page.keyboard.press('Control+Enter')
  await expect(page.getByRole('dialog').getByText('The disk is full.')).toBeVisible()
  await expect(banner).toBeVisible()
  await expect(banner.locator('..')).toContainText(reason)
  await page.keyboard.press('Escape')

  await page.unrouteAll()
  await page.clock.fastForward(15_000)
  await expect(banner).toBeHidden()
})
