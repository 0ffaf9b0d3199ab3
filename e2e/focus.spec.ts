import { holdBulkChanges } from './support/hold-bulk-changes.ts'
import { ARTICLES, dialogOf, makeBlog } from './support/page/documents-page.ts'
import { consolePath } from './support/page/endpoints-page.ts'
import { holdRequests } from './support/page/hold-requests.ts'
import { expect, sessionTest, test } from './support/server/gatehouse.ts'

// The focus moves to what remains when the focused element disappears, and never to the body.

test('Clearing a filter focuses its field', async ({ page, gatehouse }) => {
  await gatehouse.signIn(page, consolePath)
  const field = page.getByRole('searchbox', { name: 'Filter endpoints' })
  await field.fill('tcp')
  await field.press('Tab')
  const clear = page.getByRole('button', { name: 'Clear filters' })
  await expect(clear).toBeFocused()
  await page.keyboard.press('Enter')
  await expect(clear).toBeHidden()
  await expect(field).toBeFocused()
})

test('A document that is closed as soon as it is shown returns the focus to its row', async ({
  page,
  gatehouse,
}) => {
  await makeBlog(gatehouse, [{ id: 'one' }])
  const held = await holdRequests(page, /\/articles\/\?id=one$/)
  await gatehouse.signIn(page, ARTICLES)
  const row = page.locator('[data-row=one]')
  const dialog = dialogOf(page, 'Document one')
  await row.focus()
  await page.keyboard.press('Enter')
  await held.requested
  await expect(dialog.getByRole('status')).toHaveText('Loading the document…')
  held.release()
  await expect(dialog.getByRole('button', { name: 'Copy JSON' })).toBeVisible()
  await page.keyboard.press('Escape')
  await expect(dialog).toBeHidden()
  await expect(row).toBeFocused()
})

test('A panel whose document is gone returns the focus to its row', async ({
  page,
  gatehouse,
  browserErrors,
}) => {
  browserErrors.allow(/^http 404 GET .*\/articles\/\?id=one$/)
  await makeBlog(gatehouse, [{ id: 'one' }])
  const json = { id: 'not_found', message: 'The document does not exist.' }
  const held = await holdRequests(page, /\/articles\/\?id=one$/, (route) =>
    route.fulfill({ status: 404, json }),
  )
  await gatehouse.signIn(page, ARTICLES)
  const link = page.getByRole('link', { name: 'one', exact: true })
  await link.click()
  await held.requested
  await expect(dialogOf(page, 'Document one')).toBeVisible()
  held.release()
  await expect(page.getByText('There is no document one.')).toBeVisible()
  await page.keyboard.press('Escape')
  await expect(page.locator('[data-row=one]')).toBeFocused()
})

test('The focus is kept when a bulk change is cancelled and undone', async ({
  page,
  gatehouse,
}) => {
  const endpoint = `tcp://127.0.0.1:${await gatehouse.freePort()}`
  await gatehouse.post('/_db/_system/_api/endpoint', { endpoint, databases: ['blog'] })
  const release = await holdBulkChanges(page)
  await gatehouse.signIn(page, consolePath)
  await page.getByRole('checkbox', { name: `Select ${endpoint}` }).check()
  await page.getByRole('button', { name: 'Add a database' }).click()
  const dialog = page.getByRole('dialog', { name: 'Add a database to 1 endpoint' })
  await dialog.getByRole('combobox', { name: 'Database' }).fill('news')
  await dialog.getByRole('button', { name: 'Add database' }).click()
  const bar = page.getByRole('region', { name: 'Bulk change' })
  await expect(bar).toContainText('1 of 1')
  await bar.getByRole('button', { name: 'Cancel' }).press('Enter')
  await expect(page.getByRole('main')).toBeFocused()
  const outcome = page.getByRole('region', { name: 'Last change' })
  await outcome.getByRole('button', { name: 'Undo' }).press('Enter')
  await expect(bar.getByRole('button', { name: 'Cancel' })).toBeVisible()
  await expect(outcome.getByRole('button', { name: 'Undoing…' })).toBeFocused()
  await release()
  await outcome.getByRole('button', { name: 'Close' }).press('Enter')
  await expect(outcome).toBeHidden()
  await expect(page.getByRole('main')).toBeFocused()
})

sessionTest(
  'Ending sessions keeps the focus on their list, also if one was ended elsewhere',
  async ({ page, gatehouse, browser, browserErrors }) => {
    browserErrors.allow(/^http 404 DELETE .*\/session\//)
    const elsewhere = await browser.newContext()
    for (let n = 0; n < 3; n += 1) {
      await elsewhere.clearCookies()
      await gatehouse.signIn(await elsewhere.newPage())
    }
    await elsewhere.close()
    await gatehouse.signIn(page, '/_console/me')
    const list = page.getByRole('group', { name: 'Sessions' })
    const rows = list.getByRole('row')
    await expect(rows).toHaveCount(5)
    await list
      .getByRole('button', { name: /^End the session of/ })
      .first()
      .press('Enter')
    await expect(rows).toHaveCount(4)
    await expect(list).toBeFocused()
    // One of them is ended elsewhere at the same time.
    await page.route(
      /\/session\/[^/]+$/,
      async (route) => {
        await gatehouse.delete(new URL(route.request().url()).pathname)
        await route.continue()
      },
      { times: 1 },
    )
    await list.getByRole('button', { name: 'End all other sessions' }).press('Enter')
    await expect(rows).toHaveCount(2)
    await expect(list).toBeFocused()
  },
)
