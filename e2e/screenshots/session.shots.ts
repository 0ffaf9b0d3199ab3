import { consolePath, rowOf } from '../support/page/endpoints-page.ts'
import { expect, freshTest as test } from '../support/server/gatehouse.ts'
import { withProvider } from '../support/server/with-provider.ts'
import { giveKey } from '../support/sign-in.ts'
import { shoot } from './shoot.ts'
import { becomes } from './states.ts'

// Screenshots of sign-in, of ended sessions and of lost connections.

test.beforeEach(({ browserErrors }) => {
  // Some of these screenshots show rejected requests.
  browserErrors.allow(/./)
})

test('sign-in: local provider', async ({ page }) => {
  await page.goto('/_console/')
  await expect(page.getByRole('button', { name: /^Sign in with/ }).first()).toBeVisible()
  await shoot(page, 'sign-in-local')
  await giveKey(page, 'not-the-key-of-this-server')
  await expect(page.getByRole('alert')).toBeVisible()
  await shoot(page, 'sign-in-wrong-key')
  await page.goto('/_oauth2/local/auth?code=a&state=b')
  await shoot(page, 'sign-in-failed')
})

test('sign-in: providers, waiting for a role', async ({ page, gatehouse }) => {
  const provider = await withProvider(gatehouse)
  await gatehouse.restart({
    GATEHOUSE_GITHUB_CLIENT_ID: 'an-id',
    GATEHOUSE_GITHUB_CLIENT_SECRET: 'only-for-this-picture-0123456789',
  })
  await page.goto('/_console/')
  await expect(page.getByRole('button', { name: 'Sign in with Example ID' })).toBeVisible()
  await shoot(page, 'sign-in-providers')
  await page.getByRole('button', { name: 'Sign in with Example ID' }).click()
  await expect(page.getByRole('heading', { name: 'Waiting for a role' })).toBeVisible()
  await shoot(page, 'pending')
  await provider.close()
})

test('session: ended, another person, demoted', async ({ page, gatehouse }) => {
  await gatehouse.signIn(page, `${consolePath}/new`)
  await page.getByLabel('Port').fill('8534')
  await expect(page.getByText('Live', { exact: true })).toBeVisible()
  await becomes(page, 'viewer')
  await page.evaluate(() => window.dispatchEvent(new Event('visibilitychange')))
  await expect(page.getByText(/viewer/i).first()).toBeVisible()
  await shoot(page, 'session-demoted')
  await page.unroute('**/_api/session')

  await page.goto(`${consolePath}/new`)
  await page.getByLabel('Port').fill('8534')
  await expect(page.getByText('Live', { exact: true })).toBeVisible()
  await page.route('**/_api/session', async (route) => {
    const response = await route.fetch()
    const session = await response.json()
    const person = { ...session.person, id: 'other', username: 'github:2', name: null }
    await route.fulfill({ response: response, json: { ...session, person } })
  })
  await page.evaluate(() => window.dispatchEvent(new Event('visibilitychange')))
  await expect(page.getByText('github:2 is now signed in')).toBeVisible()
  await shoot(page, 'session-another-person')
  await page.unroute('**/_api/session')

  await page.goto(`${consolePath}/new`)
  await page.getByLabel('Port').fill('8534')
  await expect(page.getByText('Live', { exact: true })).toBeVisible()
  await gatehouse.delete('/_db/_system/_api/user/me/session/all')
  await expect(page.getByText('You were signed out').first()).toBeVisible()
  await shoot(page, 'session-ended-form')
  await page.goto(consolePath)
  await page.waitForLoadState('networkidle')
  await shoot(page, 'session-signed-out')
})

test('session: ended on a page, connection lost, no such page, a newer version', async ({
  page,
  gatehouse,
}) => {
  await gatehouse.signIn(page)
  await page.goto('/_console/nowhere')
  await shoot(page, 'no-such-page')
  await page.route(/\/assets\/activity-page-[^/]*\.js$/, (route) =>
    route.continue({ url: `${gatehouse.url}/_console/assets/activity-page-gone.js` }),
  )
  await page.goto(consolePath)
  await page.getByRole('link', { name: 'Activity' }).click()
  await expect(page.getByText('A new version may be available.')).toBeVisible()
  await shoot(page, 'newer-version')
  await page.goto(consolePath)
  await expect(page.getByText('Live', { exact: true })).toBeVisible()
  await gatehouse.kill()
  await expect(page.getByText('No connection since')).toBeVisible()
  await shoot(page, 'connection-lost')
  await gatehouse.restart()
  await expect(page.getByText('No connection since')).toBeHidden({ timeout: 30_000 })
  await expect(rowOf(page, `tcp://127.0.0.1:${gatehouse.port}`)).toContainText('Listening')
  await gatehouse.delete('/_db/_system/_api/user/me/session/all')
  await expect(page.getByText('You were signed out').first()).toBeVisible()
  await shoot(page, 'session-ended')
})
