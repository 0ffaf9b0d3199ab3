import type { Page } from '@playwright/test'
import {
  addDatabases,
  chooseEveryDatabase,
  chooseInMenu,
  consolePath,
  rowOf,
} from '../support/page/endpoints-page.ts'
import { expectAccessibleInBothThemes } from '../support/page/expect-accessible.ts'
import { expect, freshTest, type Gatehouse, test } from '../support/server/gatehouse.ts'
import { listen } from '../support/server/listen.ts'
import { unprivileged } from '../support/server/unprivileged.ts'
import { withProvider } from '../support/server/with-provider.ts'

// This file is long because it contains many journeys that share no code.

const API = '/_db/_system/_api/endpoint'

const addForm = (page: Page) => page.getByRole('dialog', { name: 'Add endpoint' })
const mappingForm = (page: Page, address: string) =>
  page.getByRole('dialog', { name: `Mapping of ${address}` })
const names = (page: Page) =>
  page.getByRole('list', { name: 'Databases in order' }).getByRole('listitem')

/** Adds an endpoint with the API; returns its address. */
async function endpoint(gatehouse: Gatehouse, ...databases: string[]): Promise<string> {
  const address = `tcp://127.0.0.1:${await gatehouse.freePort()}`
  await gatehouse.post(API, { endpoint: address, databases })
  return address
}

/** Returns the mapping that the server has now. */
async function stored(gatehouse: Gatehouse, address: string): Promise<unknown> {
  const list = (await gatehouse.get(API)).body as { endpoint: string; databases: string[] }[]
  return list.find((each) => each.endpoint === address)?.databases
}

test('An endpoint that the filter hides is opened from the toast, and its addition is undone', async ({
  page,
  gatehouse,
}) => {
  await gatehouse.signIn(page, `${consolePath}?q=:${gatehouse.port}`)
  const address = `tcp://127.0.0.1:${await gatehouse.freePort()}`
  await page.getByRole('button', { name: 'Add endpoint' }).click()
  await addForm(page).getByLabel('Port').fill(new URL(address).port)
  await chooseEveryDatabase(page)
  await page.keyboard.press('Control+Enter')
  const toast = page.getByRole('region', { name: 'Last change' })
  await expect(toast).toContainText(`${address} added`)
  await expect(rowOf(page, address)).toBeHidden()
  await toast.getByRole('link', { name: 'Open' }).click()
  await expect(page.getByRole('dialog', { name: address, exact: true })).toContainText('Listening')
  await toast.getByRole('button', { name: 'Undo' }).click()
  await expect(toast).toContainText(`${address} removed`)
  expect(await stored(gatehouse, address)).toBeUndefined()
})

test('Databases are ordered by drag and drop, and the summary follows', async ({
  page,
  gatehouse,
}) => {
  const port = await gatehouse.freePort()
  await gatehouse.signIn(page, `${consolePath}/new`)
  await addForm(page).getByLabel('Port').fill(`${port}`)
  await addDatabases(page, 'blog', 'shop', 'news')
  // Wait for the last line of text, after which the layout is stable.
  await expect(names(page).nth(2)).toContainText('does not exist')
  const from = await names(page).nth(2).getByText('news').boundingBox()
  const to = await names(page).nth(0).boundingBox()
  if (from === null || to === null) throw new Error('the list is not shown')
  const drag = async () => {
    await page.mouse.move(from.x + 8, from.y + 8)
    await page.mouse.down()
    await page.mouse.move(from.x + 8, from.y - 8, { steps: 4 })
    await page.mouse.move(from.x + 8, to.y + 8, { steps: 8 })
  }
  // Escape cancels the drag, not the form.
  await drag()
  await expect(names(page).filter({ hasText: /^news/ })).toContainText('default')
  await page.keyboard.press('Escape')
  await page.mouse.up()
  await expect(names(page)).toHaveText([/^blog/, /^shop/, /^news/])
  const dragged = names(page).filter({ hasText: /^news/ })
  await expect(async () => {
    // No drag can begin while the last item is put back. Cancel a drag that begins late.
    if ((await page.locator('[data-dragging]').count()) > 0) await page.keyboard.press('Escape')
    await page.mouse.up()
    await drag()
    // During the drag, the list already shows the result of dropping here.
    await expect(dragged).toContainText('default', { timeout: 5_000 })
  }).toPass()
  await page.mouse.up()
  await expect(names(page)).toHaveText([/^news/, /^blog/, /^shop/])
  await expect(page.getByText('Requests without a database name get 404.')).toBeVisible()
  await expect(page.getByText('The default database news does not exist.')).toBeVisible()
  await page.getByRole('button', { name: 'Create database news' }).click()
  await expect(page.getByText('The default database news does not exist.')).toBeHidden()
  await expect(page.getByText('Requests without a database name go to news.')).toBeVisible()
  await expect(names(page).nth(0)).not.toContainText('does not exist')
  await page.keyboard.press('Control+Enter')
  await expect(addForm(page)).toBeHidden()
  expect(await stored(gatehouse, `tcp://127.0.0.1:${port}`)).toEqual(['news', 'blog', 'shop'])
})

test('A new endpoint exposes nothing until a database is chosen, created in place or all are chosen', async ({
  page,
  gatehouse,
}) => {
  const port = await gatehouse.freePort()
  await gatehouse.signIn(page, `${consolePath}/new`)
  const form = addForm(page)
  await form.getByLabel('Port').fill(`${port}`)
  await expect(form.getByRole('radio', { name: 'Only these' })).toBeChecked()
  await page.keyboard.press('Control+Enter')
  const field = form.getByRole('combobox', { name: 'Add a database' })
  await expect(field).toHaveAccessibleDescription('Choose at least one database.')
  await expect(field).toBeFocused()

  const access = form.getByText('Anyone who can connect sees the sign-in page; admins can manage')
  await expect(access).toBeHidden()
  await chooseEveryDatabase(page)
  const color = () => access.evaluate((each) => getComputedStyle(each).color)
  const plain = await color()
  await form.getByLabel('Host').selectOption('All addresses (0.0.0.0)')
  await expect.poll(color).not.toBe(plain)
  await expectAccessibleInBothThemes(page)
  await form.getByLabel('Host').selectOption('This machine only (127.0.0.1)')
  await expect.poll(color).toBe(plain)

  await form.getByRole('radio', { name: 'Only these' }).check()
  await form.getByRole('button', { name: 'Create database', exact: true }).click()
  await expect(field).toHaveAccessibleDescription('Type the name of a database first.')
  await expect(field).toBeFocused()
  await page.keyboard.type('fresh')
  await form.getByRole('button', { name: 'Create database fresh' }).click()
  await expect(names(page)).toHaveText([/^freshdefault/])
  await expect(field).toBeFocused()
  await page.keyboard.press('Control+Enter')
  await expect(rowOf(page, `tcp://127.0.0.1:${port}`)).toContainText('fresh')
  expect((await gatehouse.get(`http://127.0.0.1:${port}/`)).body).toMatchObject({
    database: 'fresh',
  })
})

// Skipped if every process may use low ports; `npm test` reports this before the run.
if (unprivileged !== undefined) {
  test.describe('When ports below 1024 are reserved', () => {
    freshTest.use({ launcher: unprivileged })

    freshTest(
      'a privileged port is explained at its field',
      async ({ page, gatehouse, browserErrors }) => {
        browserErrors.allow(/^http 403 POST .*\/_api\/endpoint$/)
        await gatehouse.signIn(page, `${consolePath}/new`)
        const field = addForm(page).getByLabel('Port')
        await chooseEveryDatabase(page)
        await field.fill('80')
        await page.keyboard.press('Control+Enter')
        await expect(field).toHaveAccessibleDescription(
          'Ports below 1024 require a system permission. Choose 1024 or higher. (EACCES)',
        )
        await expect(field).toBeFocused()
        await expect(field).toHaveValue('80')
      },
    )
  })
}

test('The form warns about invalid addresses and shows each error at its field', async ({
  page,
  gatehouse,
  browserErrors,
}) => {
  browserErrors.allow(/^http 400 POST .*\/_api\/endpoint$/)
  await gatehouse.signIn(page, `${consolePath}/new`)
  const form = addForm(page)
  await form.getByLabel('Port').fill(`${await gatehouse.freePort()}`)
  await chooseEveryDatabase(page)
  await expect(form.getByText('Tokens and documents are sent unencrypted.')).toBeHidden()
  await form.getByLabel('Host', { exact: true }).selectOption('Another name or address…')
  await form.getByLabel('Host name or address').fill('203.0.113.7')
  await expect(form.getByText('Tokens and documents are sent unencrypted.')).toBeVisible()
  await page.keyboard.press('Control+Enter')
  await expect(form.getByLabel('Host name or address')).toHaveAccessibleDescription(
    '203.0.113.7 is not an address of this machine. Choose one of its addresses. (EADDRNOTAVAIL)',
  )
  await form.getByRole('button', { name: 'Use ssl' }).click()
  await expect(form.getByRole('button', { name: 'Add a certificate…' })).toBeVisible()
  await expect(form.getByText('Tokens and documents are sent unencrypted.')).toBeHidden()
  await page.keyboard.press('Control+Enter')
  await expect(form.getByText('Choose a certificate, or add one.')).toBeVisible()
  // Pasting a whole address into any field fills all fields.
  const other = form.getByLabel('Host name or address')
  await other.fill(' ssl://[::1]:8531 ')
  await expect(other).toHaveValue('[::1]')
  await expect(form.getByLabel('Port')).toHaveValue('8531')
  await form.getByLabel('Port').fill('tcp://127.0.0.1:8530')
  await expect(other).toHaveValue('127.0.0.1')
  await expect(form.getByLabel('Port')).toHaveValue('8530')
  await expect(form.getByRole('radio', { name: 'tcp' })).toBeChecked()
  await other.fill('')
  await other.pressSequentially('fe80::1%eth0')
  await expect(other).toHaveValue('fe80::1%eth0')
  await form.getByLabel('Port').focus()
  await expect(other).toHaveValue('[fe80::1%eth0]')
  await other.fill('unix:///run/gatehouse.sock')
  await expect(form.getByLabel('Path')).toHaveValue('/run/gatehouse.sock')
  await expect(form.getByLabel('Path')).toBeFocused()
  await form.getByLabel('Path').fill('ssl://203.0.113.7:8530')
  await expect(form.getByLabel('Port')).toBeFocused()
  // A name that was typed but not added is reported.
  await page.getByLabel('Only these').check()
  await page.getByRole('combobox', { name: 'Add a database' }).fill('blog')
  await page.keyboard.press('Control+Enter')
  await expect(page.getByRole('combobox', { name: 'Add a database' })).toHaveAccessibleDescription(
    'blog is not in the list yet. Add it, or clear the field.',
  )
})

test('An address is checked while it is typed, and the system error is shown at its field', async ({
  page,
  gatehouse,
}) => {
  const port = await gatehouse.freePort()
  const other = await listen(port)
  await gatehouse.signIn(page, `${consolePath}/new`)
  const form = addForm(page)
  const field = form.getByLabel('Port')
  await field.pressSequentially(`${port}`)
  await expect(field).toHaveAccessibleDescription(
    `Port ${port} on 127.0.0.1 is used by another program. (EADDRINUSE)`,
  )
  await expect(field).toBeFocused()
  // A link shows the server's own endpoint, which discards the input.
  await field.fill(`${gatehouse.port}`)
  await expect(field).toHaveAccessibleDescription(/ already exists\. Show endpoint$/)
  await form.getByRole('link', { name: 'Show endpoint' }).click()
  await expect(page.getByRole('dialog', { name: /127\.0\.0\.1/ })).toBeVisible()
  await page.goBack()
  await expect(field).toHaveValue('')
  await field.fill(`${port}`)
  await form.getByLabel('Host', { exact: true }).selectOption('Another name or address…')
  await form.getByLabel('Host name or address').fill('203.0.113.7')
  await expect(form.getByLabel('Host name or address')).toHaveAccessibleDescription(
    /^203\.0\.113\.7 is not an address of this machine.*\(EADDRNOTAVAIL\)$/,
  )
  // The check is only a hint. The port is free by now, so saving succeeds.
  await form.getByLabel('Host name or address').fill('127.0.0.1')
  await field.fill(`${port}`)
  await expect(field).toHaveAccessibleDescription(/EADDRINUSE/)
  await other.close()
  await chooseEveryDatabase(page)
  await page.keyboard.press('Control+Enter')
  await expect(rowOf(page, `tcp://127.0.0.1:${port}`)).toBeFocused()
})

test('A save waits for a killed server and keeps the input', async ({
  page,
  gatehouse,
  browserErrors,
}) => {
  test.slow()
  browserErrors.allow(/^request failed /)
  const address = await endpoint(gatehouse, 'blog', 'shop')
  await gatehouse.signIn(page, consolePath)
  await chooseInMenu(page, address, 'Edit mapping')
  const form = mappingForm(page, address)
  await page.getByRole('button', { name: 'Move shop up' }).click()
  await addDatabases(page, 'news')
  await gatehouse.kill()
  await page.keyboard.press('Control+Enter')
  await expect(
    form.getByText(
      'No connection to Gatehouse. The endpoint will be saved when the connection returns.',
    ),
  ).toBeVisible()
  await gatehouse.restart()
  await expect(form).toBeHidden()
  expect(await stored(gatehouse, address)).toEqual(['shop', 'blog', 'news'])

  // Repeat with a reload of the page.
  await chooseInMenu(page, address, 'Edit mapping')
  await page.getByRole('button', { name: 'Remove blog' }).click()
  await gatehouse.kill()
  await gatehouse.restart()
  await page.reload()
  await form.getByRole('button', { name: 'Restore' }).click()
  await expect(names(page)).toHaveText([/^shop/, /^news/])
  await form.getByRole('button', { name: 'Save mapping' }).click()
  await expect(form).toBeHidden()
  expect(await stored(gatehouse, address)).toEqual(['shop', 'news'])
})

test('An endpoint that is rejected after its form was closed is reported on every page', async ({
  page,
  gatehouse,
  browserErrors,
}) => {
  browserErrors.allow(/^http 409 POST .*\/_api\/endpoint/)
  const port = await gatehouse.freePort()
  await gatehouse.signIn(page, `${consolePath}/new`)
  const released = Promise.withResolvers<void>()
  await page.route(/\/_api\/endpoint$/, async (route) => {
    if (route.request().method() === 'POST') await released.promise
    await route.continue()
  })
  const form = addForm(page)
  await form.getByLabel('Port').fill(`${port}`)
  await chooseEveryDatabase(page)
  const sent = page.waitForRequest(
    (request) => request.method() === 'POST' && request.url().endsWith('/_api/endpoint'),
  )
  await page.keyboard.press('Control+Enter')
  await sent
  await page.keyboard.press('Escape')
  await expect(form).toBeHidden()
  await page.getByRole('link', { name: 'Activity', exact: true }).click()
  const other = await listen(port)
  released.resolve()
  const bar = page.getByRole('region', { name: 'Failed change' })
  await expect(bar).toContainText(`Endpoint tcp://127.0.0.1:${port} was not added. Port ${port}`)
  await other.close()
  await bar.getByRole('button', { name: 'Try again' }).click()
  await form.getByRole('button', { name: 'Restore' }).click()
  await expect(form.getByLabel('Port')).toHaveValue(`${port}`)
  await page.keyboard.press('Control+Enter')
  await expect(rowOf(page, `tcp://127.0.0.1:${port}`)).toContainText('Listening')
  await expect(bar).toBeHidden()
})

freshTest(
  'A person demoted during an edit sees the reason and regains the draft as an operator',
  async ({ page, gatehouse, browserErrors }) => {
    test.slow()
    browserErrors.allow(/^http 40[13] /)
    const provider = await withProvider(gatehouse)
    const people = '/_db/_system/_api/user'
    const signIn = () => page.getByRole('button', { name: 'Sign in with Example ID' }).click()
    const become = async (role: string) => {
      const list = (await gatehouse.get(people)).body as { id: string; username: string }[]
      const ada = list.find(({ username }) => username.startsWith('oidc:'))
      expect((await gatehouse.patch(`${people}/${ada?.id}`, { role })).status).toBe(200)
    }
    await page.goto(consolePath)
    await signIn()
    await expect(page.getByRole('heading', { name: 'Waiting for a role' })).toBeVisible()
    await become('operator')
    await page.goto(`${consolePath}/new`)
    await signIn()
    const port = await gatehouse.freePort()
    await addForm(page).getByLabel('Port').fill(`${port}`)
    await chooseEveryDatabase(page)

    await become('viewer')
    await page.keyboard.press('Control+Enter')
    await addForm(page).getByRole('link', { name: 'Sign in again' }).click()
    await signIn()
    const refusal = page.getByRole('dialog', {
      name: 'Only operators and admins can change endpoints',
    })
    await expect(refusal).toContainText('You are a viewer')
    await expect(refusal).toContainText('Your input is kept in this tab')

    await become('operator')
    await refusal.getByRole('link', { name: 'Sign in again' }).click()
    await signIn()
    await addForm(page).getByRole('button', { name: 'Restore' }).click()
    await expect(addForm(page).getByLabel('Port')).toHaveValue(`${port}`)
    await page.keyboard.press('Control+Enter')
    await expect(rowOf(page, `tcp://127.0.0.1:${port}`)).toContainText('Listening')
    provider.close()
  },
)
