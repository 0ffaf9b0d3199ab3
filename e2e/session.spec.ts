import { addDatabases, consolePath, rowOf } from './support/endpoints-page.ts'
import { expectAccessible } from './support/expect-accessible.ts'
import { expect, test } from './support/gatehouse.ts'
import { giveKey } from './support/sign-in.ts'

test('Nobody sees the console without signing in, and the key leads to the page that was asked for', async ({
  page,
  gatehouse,
}) => {
  const wanted = `${consolePath}?q=state%3Alistening`
  await page.goto(wanted)
  await expect(page).toHaveTitle('Sign in · Gatehouse')
  await page.getByRole('button', { name: 'Sign in with the operator key' }).click()
  await giveKey(page, gatehouse.operatorKey)
  await expect(page.getByRole('searchbox', { name: 'Filter endpoints' })).toHaveValue(
    'state:listening',
  )
  await expect(rowOf(page, `tcp://127.0.0.1:${gatehouse.port}`)).toBeVisible()
})

test('A wrong key is explained, and the right one still lets in', async ({
  page,
  gatehouse,
  faults,
}) => {
  faults.allow(/^http 4\d\d POST .*\/_idp\//)
  await page.goto('/_console/')
  await page.getByRole('button', { name: 'Sign in with the operator key' }).click()
  await giveKey(page, 'not-the-key-of-this-server')
  await expect(page.getByRole('alert')).toBeVisible()
  await expectAccessible(page)
  await giveKey(page, gatehouse.operatorKey)
  await expect(page.getByRole('heading', { name: 'Endpoints' })).toBeVisible()
})

test('Signing out ends the session on the server, and the key is asked for again', async ({
  page,
  gatehouse,
}) => {
  await gatehouse.signIn(page)
  const cookies = await page.context().cookies()
  await page.getByRole('button', { name: 'Operator your menu' }).click()
  await page.getByRole('menuitem', { name: 'Sign out' }).click()
  await expect(page.getByText('You are signed out.')).toBeVisible()

  // Not only the cookie is gone: what it held is worth nothing any more.
  await page.context().addCookies(cookies)
  await page.goto(consolePath)
  await page.getByRole('button', { name: 'Sign in with the operator key' }).click()
  await expect(page.getByLabel('Operator key')).toBeVisible()
})

test('A session that ends in the middle of adding an endpoint loses nothing that was typed', async ({
  page,
  gatehouse,
  faults,
}) => {
  faults.allow(/^http 401 /)
  const port = await gatehouse.freePort()
  await gatehouse.signIn(page, `${consolePath}/new`)
  await page.getByLabel('Port').fill(String(port))
  await page.getByLabel('Only these').check()
  await addDatabases(page, 'blog', 'shop')
  await page.getByLabel('Port').focus()
  await gatehouse.delete('/_db/_system/_api/user/me/session/all')

  const form = page.getByRole('dialog', { name: 'Add endpoint' })
  await expect(form.getByText('You were signed out: this session was ended.')).toBeVisible()
  await expect(form.getByText('What you typed is kept.')).toBeVisible()
  await expect(form.getByLabel('Port')).toHaveValue(String(port))
  await expectAccessible(page)
  await form.getByRole('link', { name: 'Sign in again' }).click()

  await page.getByRole('button', { name: 'Sign in with the operator key' }).click()
  await giveKey(page, gatehouse.operatorKey)
  await expect(form.getByText('What you typed before is back.')).toBeVisible()
  await expect(form.getByLabel('Port')).toHaveValue(String(port))
  await expect(form.getByRole('list', { name: 'Databases in order' })).toContainText('shop')
  await expect(form.getByLabel('Port')).toBeFocused()
  await page.keyboard.press('Control+Enter')
  await expect(rowOf(page, `tcp://127.0.0.1:${port}`)).toContainText('Listening')
  await expect(form).toBeHidden()

  // Done with: the next endpoint begins afresh.
  await page.getByRole('button', { name: 'Add endpoint' }).click()
  await expect(form.getByLabel('Port')).toHaveValue('')
})

test('Where another person signs in, nothing that was typed is shown, and it is kept for the first', async ({
  page,
  gatehouse,
}) => {
  await gatehouse.signIn(page, `${consolePath}/new`)
  await page.getByLabel('Port').fill('8534')
  await expect(page.getByText('Live', { exact: true })).toBeVisible()
  let another = true
  await page.route('**/_api/session', async (route) => {
    if (!another) return route.continue()
    const answer = await route.fetch()
    const session = await answer.json()
    const person = { ...session.person, id: 'other', username: 'github:2', name: null }
    await route.fulfill({ response: answer, json: { ...session, person } })
  })
  // It looks who is signed in whenever it comes into sight.
  await page.evaluate(() => window.dispatchEvent(new Event('visibilitychange')))
  await expect(page.getByText('github:2 is signed in now.')).toBeVisible()
  await expect(page.getByText('What Operator typed is not shown')).toBeVisible()
  await expect(page.getByLabel('Port')).toHaveCount(0)
  await expectAccessible(page)

  await page.getByRole('button', { name: 'Reload' }).click()
  await expect(page.getByLabel('Port')).toHaveValue('')
  another = false
  await page.reload()
  await expect(page.getByText('What you typed before is back.')).toBeVisible()
  await expect(page.getByLabel('Port')).toHaveValue('8534')
})

test('A part of the page that a newer version no longer has leads to that version, and nothing typed is lost', async ({
  page,
  gatehouse,
  faults,
}) => {
  faults.allow(/^http 404 GET .*\/assets\//)
  faults.allow(/^console TypeError: Failed to fetch dynamically imported module: .*activity-page/)
  await gatehouse.signIn(page, `${consolePath}/new`)
  await page.getByLabel('Port').fill('8534')
  // The files of the page are gone with its version: the server answers as it does for such.
  await page.route(/\/assets\/activity-page-[^/]*\.js$/, (route) =>
    route.continue({ url: `${gatehouse.url}/_console/assets/activity-page-gone.js` }),
  )
  await page.keyboard.press('Control+k')
  await page.getByRole('combobox', { name: 'Search pages' }).fill('activity')
  await page.keyboard.press('Enter')
  await expect(page.getByText('There may be a new version of it.')).toBeVisible()
  await expectAccessible(page)
  await page.unroute(/\/assets\/activity-page-[^/]*\.js$/)
  await page.getByRole('button', { name: 'Reload' }).click()
  await expect(page.getByRole('heading', { name: 'Activity' })).toBeVisible()

  await page.goto(`${consolePath}/new`)
  await expect(page.getByLabel('Port')).toHaveValue('8534')
})

/** Figures are asked for every five seconds. */
const SOME_FIGURES = { timeout: 30_000 }

test('An open page that nobody touches is no use of the session', async ({ page, gatehouse }) => {
  await page.clock.install()
  await gatehouse.signIn(page, consolePath)
  const header = async () =>
    (await page.waitForRequest(/_api\/listener/)).headers()['x-gatehouse-background']
  await page.keyboard.press('Shift')
  expect(await header()).toBeUndefined()
  // Far less than a session lasts, and more than somebody who reads holds still.
  await page.clock.fastForward('03:00')
  await expect.poll(header, SOME_FIGURES).toBe('1')
  await page.keyboard.press('Shift')
  await expect.poll(header, SOME_FIGURES).toBeUndefined()
})

test('Signed in again in another tab, the page goes on by itself', async ({
  page,
  gatehouse,
  faults,
}) => {
  // It signs in twice and waits for a look that comes every 15 s.
  test.slow()
  faults.allow(/^http 401 /)
  await gatehouse.signIn(page)
  await expect(page.getByText('Live', { exact: true })).toBeVisible()
  await gatehouse.delete('/_db/_system/_api/user/me/session/all')
  await expect(page.getByText('You were signed out: this session was ended.')).toBeVisible()
  const other = await page.context().newPage()
  await gatehouse.signIn(other)
  // It looks every 15 s.
  await expect(page.getByText('You were signed out')).toBeHidden({ timeout: 45_000 })
  await expect(page.getByText('Live', { exact: true })).toBeVisible()
})

test('One sees where one is signed in, and ends the other sessions', async ({
  page,
  gatehouse,
  browser,
  faults,
}) => {
  faults.allow(/^http 401 /)
  const elsewhere = await browser.newContext()
  const there = await elsewhere.newPage()
  await gatehouse.signIn(there)
  await gatehouse.signIn(page, '/_console/me')
  const sessions = page.getByRole('table', { name: 'Sessions' }).getByRole('row')
  await expect(sessions).toHaveCount(3)
  await expect(sessions.filter({ hasText: 'This session' })).toHaveCount(1)
  await page.getByRole('button', { name: /^End the session of/ }).click()
  await expect(sessions).toHaveCount(2)
  await expect(there.getByText('You were signed out: this session was ended.')).toBeVisible()
  await elsewhere.close()
})
