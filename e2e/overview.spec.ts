import { addBlog } from './support/add-blog.ts'
import { expectAccessibleInBothThemes } from './support/page/expect-accessible.ts'
import { pressSequence } from './support/page/press-sequence.ts'
import { expect, freshTest, test } from './support/server/gatehouse.ts'

const API = '/_db/_system/_api'

test('An operator starts with the overview, and solves there what needs attention', async ({
  page,
  gatehouse,
}) => {
  const missing = `gone-${await gatehouse.freePort()}`
  const endpoint = `tcp://127.0.0.1:${await gatehouse.freePort()}`
  await gatehouse.post(`${API}/endpoint`, { endpoint, databases: [missing] })
  const { url } = await addBlog(gatehouse)
  expect((await gatehouse.get(url)).status).toBe(200)
  await gatehouse.signIn(page, '/_console/')
  await expect(page).toHaveURL(/\/overview$/)
  const attention = page.getByRole('region', { name: 'Needs attention' })
  const entry = attention.getByRole('listitem').filter({ hasText: missing })
  await expect(entry).toContainText(`Mapped by ${endpoint}`)
  await expect(page).toHaveTitle(/to solve · Overview/)
  await entry.getByRole('button', { name: 'Create database' }).click()
  await expect(entry).toBeHidden()
  const changes = page.getByRole('region', { name: 'Recent changes' })
  await expect(changes.getByRole('listitem').first()).toContainText(`created database ${missing}`)

  const requests = page.getByRole('region', { name: 'Requests' })
  await expect(requests).toContainText('per second')
  const chart = requests.getByRole('slider')
  await expect(chart).toHaveAttribute('aria-valuetext', /^now: /)
  await chart.press('Home')
  await expect(chart).toHaveAttribute('aria-valuetext', /^\d\d:\d\d: /)
  await expect(chart).toHaveAttribute('aria-valuenow', '0')
  await page.getByRole('radio', { name: '24 h' }).check({ force: true })
  await expect(page).toHaveURL(/range=24h/)
  await page.getByText('Show as a table').click()
  await expect(page.getByRole('table').getByRole('row')).toHaveCount(145)
  await page.route('**/_api/traffic/endpoint?range=24h', async (route) => {
    const response = await route.fetch()
    const sums = { requests: 4, rejected: 1, failed: 0 }
    const endpoints = [
      { endpoint: 'tcp://127.0.0.1:1', ...sums, durations: [4] },
      { endpoint: 'tcp://127.0.0.1:2', ...sums, durations: [0, 0, 0, 4] },
    ]
    await route.fulfill({ response, json: { ...(await response.json()), endpoints } })
  })
  await page.getByRole('link', { name: 'Slowest endpoints' }).click()
  await expect(page).toHaveURL(/range=24h&by=endpoint/)
  const slowest = page.getByRole('region', { name: 'Slowest endpoints' })
  await expect(slowest.getByRole('rowheader')).toHaveText([
    'tcp://127.0.0.1:2',
    'tcp://127.0.0.1:1',
  ])
  await expect(slowest.getByRole('row').nth(1)).toContainText('25%')
  await expectAccessibleInBothThemes(page)

  await page.getByRole('main').focus()
  await pressSequence(page, 'g', 'e')
  await expect(page.getByRole('heading', { name: 'Endpoints' })).toBeVisible()
  await pressSequence(page, 'g', 'o')
  await expect(page.getByRole('heading', { name: 'Overview' })).toBeVisible()
})

test('On a phone, the bar has four pages and More', async ({ page, gatehouse }) => {
  await page.setViewportSize({ width: 320, height: 640 })
  await gatehouse.signIn(page, '/_console/overview')
  const bar = page.getByRole('navigation', { name: 'Main' })
  await expect(bar.getByRole('link')).toHaveText(['Overview', 'Endpoints', 'Certificates', 'Data'])
  const more = bar.getByRole('button', { name: 'More' })
  await more.click()
  await expect(bar.getByRole('link', { name: 'Activity' })).toBeVisible()
  // So high that the bar covers no part of a link.
  await page.setViewportSize({ width: 320, height: 2_400 })
  await expectAccessibleInBothThemes(page)
  await page.setViewportSize({ width: 320, height: 640 })
  await page.keyboard.press('Escape')
  await expect(bar.getByRole('link', { name: 'Activity' })).toBeHidden()
  await more.click()
  await bar.getByRole('link', { name: 'Activity' }).click()
  await expect(page.getByRole('heading', { name: 'Activity' })).toBeVisible()
  await expect(bar.getByRole('link', { name: 'Webhooks' })).toBeHidden()
})

test('The account menu has the theme, the shortcuts and what Gatehouse runs', async ({
  page,
  gatehouse,
}) => {
  await gatehouse.signIn(page, '/_console/overview')
  const button = page.getByRole('button', { name: 'account menu' })
  await button.click()
  await page.getByRole('menuitemradio', { name: 'Dark' }).click()
  await expect(page.locator('html')).toHaveAttribute('data-mantine-color-scheme', 'dark')
  await expect(page.getByRole('menuitemradio', { name: 'Dark' })).toBeChecked()
  await expectAccessibleInBothThemes(page)
  await page.getByRole('menuitem', { name: 'About Gatehouse' }).click()
  const about = page.getByRole('dialog', { name: 'About Gatehouse' })
  await expect(about).toContainText('SQLite')
  await page.keyboard.press('Escape')
  await expect(about).toBeHidden()
  await expect(button).toBeFocused()
})

freshTest(
  'The first steps lead from an empty server to a first request',
  async ({ page, gatehouse }) => {
    await gatehouse.signIn(page, '/_console/overview')
    const card = page.getByRole('region', { name: 'Serve your first data' })
    const dialog = (name: string) => page.getByRole('dialog', { name })
    const open = async (name: string) => {
      await card.getByRole('button', { name }).click()
      await expect(dialog(name)).toBeVisible()
    }
    await open('Create database')
    await page.goBack()
    await expect(dialog('Create database')).toBeHidden()
    await open('Create database')
    await dialog('Create database').getByLabel('Name').fill('shop')
    await page.keyboard.press('Control+Enter')
    await expect(dialog('Create database')).toBeHidden()
    await expect(card.getByRole('link', { name: 'shop' })).toBeVisible()
    await expect(page).toHaveURL(/\/overview$/)

    const port = await gatehouse.freePort()
    await open('Add endpoint')
    await dialog('Add endpoint').getByLabel('Port').fill(`${port}`)
    await page.keyboard.press('Control+Enter')
    await expect(dialog('Add endpoint')).toBeHidden()
    await expect(card.getByRole('link', { name: `tcp://127.0.0.1:${port}` })).toBeVisible()

    const command = card.locator('code').filter({ hasText: 'curl' })
    await expect(command).toContainText('$TOKEN')
    await open('Create token')
    await expect(dialog('Create token').getByLabel('Name')).toHaveValue('First request')
    await page.keyboard.press('Control+Enter')
    await expect(dialog('Create token')).toBeHidden()
    await expect(card.getByRole('status')).toContainText('Waiting for the request')
    await expect(card.getByRole('button', { name: 'Copy the command' })).toBeVisible()
    const text = (await command.textContent()) ?? ''
    const [, authorization = '', body = '', url = ''] =
      /"Authorization: (.*?)" .* -d '(.*?)' (\S+)$/.exec(text) ?? []
    expect(url).toBe(`http://127.0.0.1:${port}/articles`)
    const headers = { authorization, 'content-type': 'application/json' }
    expect((await fetch(url, { method: 'POST', headers, body })).status).toBe(201)
    await expect(card).toBeHidden({ timeout: 15_000 })
    await expect(page.getByRole('region', { name: 'Last change' })).toContainText('first request')
    // The secret is nowhere in the page, and the card does not come back.
    await page.reload()
    await expect(page.getByRole('region', { name: 'Needs attention' })).toBeVisible()
    await expect(card).toBeHidden()
  },
)
