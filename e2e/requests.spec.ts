import type { Page } from '@playwright/test'
import { addBlog } from './support/add-blog.ts'
import { chooseInMenu, consolePath, openTab, panelOf } from './support/page/endpoints-page.ts'
import { expectAccessible } from './support/page/expect-accessible.ts'
import { expect, test } from './support/server/gatehouse.ts'

const API = '/_db/_system/_api'

const requestsOf = (page: Page, address: string) =>
  panelOf(page, address).getByRole('region', { name: 'Live requests' })
const accessForm = (page: Page, address: string) =>
  page.getByRole('dialog', { name: `Who may connect · ${address}` })

test('An operator follows the requests of an endpoint, and blocks a client', async ({
  page,
  gatehouse,
}) => {
  const { address, url } = await addBlog(gatehouse)
  await gatehouse.signIn(page, `${consolePath}?${new URLSearchParams({ open: address })}`)
  await openTab(page, address, 'Requests')
  const requests = requestsOf(page, address)
  await expect(requests).toContainText('No requests yet. New ones will appear here.')
  await expect(requests.getByRole('status')).toHaveText('Live')
  await expectAccessible(page)

  expect((await gatehouse.get(url)).status).toBe(200)
  const rows = requests.getByRole('rowheader')
  await expect(rows).toHaveCount(1)
  expect((await fetch(`${url}?token=hidden`)).status).toBe(401)
  await expect(rows).toHaveText([/GET \/articles\/one127.0.0.1No valid token/, /GET/])

  // An open row pauses the tail.
  const rejected = rows.first().getByRole('button')
  await rejected.click()
  await expect(requests).toContainText('The request had no valid token or session.')
  await expect(requests).toContainText('not authenticated')
  await expect(requests.getByRole('status')).toHaveText('Paused')
  await expectAccessible(page)
  await fetch(url, { method: 'DELETE' })
  await expect(requests.getByRole('button', { name: 'Resume · 1 new' })).toBeVisible()
  await expect(rows).toHaveCount(2)
  await rejected.click()
  await expect(rows).toHaveText([/DELETE/, /GET/, /GET/])

  await requests.getByRole('button', { name: 'Pause' }).click()
  await requests.getByLabel('Path').fill('/shop')
  await expect(requests).toContainText('No request matches the filter.')
  await expectAccessible(page)
  await requests.getByRole('button', { name: 'Clear filters' }).click()
  await expect(rows).toHaveCount(3)
  // The server selects by status, with a new stream.
  await requests.getByLabel('Status').selectOption('Rejected')
  await expect(rows).toHaveText([/DELETE/, /GET/])
  await expect(requests.getByRole('button', { name: 'Pause' })).toBeVisible()

  // The node records other requests only while someone follows them.
  await openTab(page, address, 'Status')
  const list = `${API}/request?${new URLSearchParams({ endpoint: address })}`
  const isRecorded = async (path: string) => {
    await gatehouse.get(new URL(path, url).href)
    return JSON.stringify((await gatehouse.get(list)).body).includes(path)
  }
  let sent = 0
  await expect.poll(() => isRecorded(`/articles/none-${++sent}`)).toBe(false)
  await openTab(page, address, 'Requests')
  await expect(rows).not.toHaveCount(0)

  await rejected.click()
  await requests.getByRole('button', { name: 'Allow only 127.0.0.1' }).click()
  const form = accessForm(page, address)
  await expect(form).toContainText('Allowed clients: 127.0.0.1 (was all)')
  await page.keyboard.press('Escape')
  await requests.getByRole('button', { name: 'Block 127.0.0.1' }).click()
  await expect(form.getByLabel('Blocked')).toHaveValue('127.0.0.1')
  await expect(form).toContainText('Blocked clients: 127.0.0.1 (was none)')
  await page.keyboard.press('Control+Enter')
  await expect(form).toBeHidden()
  const send = () =>
    fetch(url).then(
      ({ status }) => status,
      () => 'refused',
    )
  // A connection that is open already gets 403.
  await expect.poll(send).toBe('refused')
  await requests.getByRole('button', { name: 'Resume' }).click()
  await expect(rows.first()).toHaveText(/Connection refused127.0.0.1Client not admitted/)
  await rejected.click()
  await expect(requests).toContainText(
    'The connection was refused. The endpoint does not admit the address 127.0.0.1',
  )
  await requests.getByRole('button', { name: 'Also allow 127.0.0.1' }).click()
  await expect(form).toContainText('Blocked clients: none (was 127.0.0.1)')
  await page.keyboard.press('Escape')

  // The policy decides on a request that is not sent.
  const tested = page.getByRole('region', { name: 'Test a request' })
  await tested.getByLabel('Method').selectOption('DELETE')
  await tested.getByLabel('Credential').selectOption('Role admin')
  await tested.getByLabel('Client').fill('127.0.0.1')
  await tested.getByLabel('Path').press('Enter')
  await expect(tested.getByRole('status')).toContainText(
    '“Who may connect” does not admit the client',
  )
  await tested.getByLabel('Client').fill('203.0.113.7')
  await tested.getByRole('button', { name: 'Test' }).click()
  await expect(tested.getByRole('status')).toHaveText('Admitted: every rule permits the request.')

  // The row of the table leads to the policy.
  await page.keyboard.press('Escape')
  await chooseInMenu(page, address, 'Edit policy')
  await expect(panelOf(page, address).getByRole('tabpanel', { name: 'Policy' })).toContainText(
    'Blocked clients127.0.0.1',
  )
})

test('The Requests view shows rejected requests of all endpoints, and reconnects', async ({
  page,
  gatehouse,
  browserErrors,
}) => {
  browserErrors.allow(/_api\/events\?/)
  const { address, url } = await addBlog(gatehouse)
  await gatehouse.signIn(page, consolePath)
  await page
    .getByRole('navigation', { name: 'View' })
    .getByRole('link', { name: 'Requests' })
    .click()
  await expect(page).toHaveTitle('Requests · Endpoints · Gatehouse')
  const status = page
    .locator('main')
    .getByRole('status')
    .filter({ hasText: /Live|No connection/ })
  await expect(status).toHaveText('Live')
  await gatehouse.get(url)
  await fetch(url)
  const table = page.getByRole('table', { name: 'Rejected requests' })
  const row = table.getByRole('row').filter({ hasText: address })
  await expect(row).toHaveCount(1)
  await expect(row).toContainText(/GET \/articles\/one.*No valid token.*401/)
  await expectAccessible(page)

  // The filter of endpoints applies to their requests.
  const filter = page.getByRole('searchbox', { name: 'Filter endpoints' })
  await filter.fill('state:failed')
  await expect(page.getByText('No request matches the filter.')).toBeVisible()
  await page.getByRole('button', { name: 'Clear filters' }).last().click()
  await expect(filter).toHaveValue('')
  await expect(row).toHaveCount(1)

  await page.route('**/_api/events?**', (route) => route.abort())
  // The server selects by a whole address.
  await page.getByLabel('Client').fill('127.0.0.1')
  await expect(status).toHaveText('No connection.')
  await expect(row).toHaveCount(1)
  await expectAccessible(page)
  await fetch(`${url}?again`)
  await page.unroute('**/_api/events?**')
  // The page may try by itself before the click.
  const tryNow = page.getByRole('button', { name: 'Try now' }).click()
  await Promise.race([tryNow, expect(status).toHaveText('Live')])
  await expect(status).toHaveText('Live')
  await expect(row).toHaveCount(2)

  await row.first().getByRole('link', { name: address }).click()
  await expect(requestsOf(page, address)).toBeVisible()
  await page.goBack()
  await row.first().getByRole('button').click()
  await page.getByRole('button', { name: 'Block 127.0.0.1' }).click()
  await expect(accessForm(page, address)).toContainText('Blocked clients: 127.0.0.1 (was none)')
  await page.keyboard.press('Escape')
  await expect(requestsOf(page, address)).toBeVisible()
})
