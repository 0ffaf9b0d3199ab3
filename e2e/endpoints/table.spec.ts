import type { Page } from '@playwright/test'
import { consolePath, rowOf } from '../support/page/endpoints-page.ts'
import { expect, freshTest, type Gatehouse, test } from '../support/server/gatehouse.ts'
import { listen } from '../support/server/listen.ts'

// Tests the table with many rows, with selected rows, and with other open consoles.

/**
 * Adds endpoints to the list that the page receives; the server does not have them. Returns the
 * address of the last one.
 */
async function showMany(page: Page, gatehouse: Gatehouse, count: number): Promise<string> {
  const addressOf = (at: number) => `tcp://127.7.7.7:${10_000 + at}`
  const addresses = [`tcp://127.0.0.1:${gatehouse.port}`]
  for (let at = 0; at < count; at += 1) addresses.push(addressOf(at))
  await page.route('**/_api/endpoint', (route) =>
    route.fulfill({ json: addresses.map((endpoint) => ({ endpoint, databases: [] })) }),
  )
  return addressOf(count - 1)
}

test('Five thousand endpoints are filtered, sorted and navigated with few rendered rows', async ({
  page,
  gatehouse,
}) => {
  const count = 5_000
  const last = await showMany(page, gatehouse, count)
  await gatehouse.signIn(page, consolePath)
  const table = page.getByRole('table', { name: 'Endpoints and their listeners' })
  await expect(table).toHaveAttribute('aria-rowcount', `${count + 2}`)
  await expect(page.getByText('5,001 endpoints')).toBeVisible()
  const elements = () => page.evaluate(() => document.querySelectorAll('*').length)
  expect(await elements()).toBeLessThanOrEqual(3_000)
  // Each keystroke in the filter creates the icons of the visible rows.
  const menu = page
    .getByRole('row')
    .nth(1)
    .getByRole('button', { name: /^Actions for/ })
  await expect(menu.locator('svg > *')).toHaveCount(1)

  await page.getByRole('row').nth(1).focus()
  await page.keyboard.press('End')
  await expect(page.locator(':focus')).toHaveAttribute('aria-rowindex', `${count + 2}`)
  await expect(page.locator(':focus')).toBeInViewport()
  await page.keyboard.press('PageUp')
  await page.keyboard.press('k')
  await expect(page.locator(':focus')).toBeInViewport()
  // Scrolling moves the focused row out of view but keeps it in the DOM.
  const focused = await page.locator(':focus').getAttribute('aria-rowindex')
  await page.getByRole('region', { name: 'Endpoints', exact: true }).evaluate((scroller) => {
    scroller.scrollTop = 0
  })
  await expect(page.getByRole('row').nth(1)).toHaveAttribute('aria-rowindex', '2')
  await expect(page.locator(':focus')).toHaveAttribute('aria-rowindex', focused ?? '')
  expect(await elements()).toBeLessThanOrEqual(3_000)

  await page.getByRole('button', { name: 'Address' }).click()
  await expect(page.getByRole('columnheader', { name: 'Address' })).toHaveAttribute(
    'aria-sort',
    'descending',
  )
  await expect(page).toHaveURL(/sort=-address/)
  await page.getByRole('searchbox', { name: 'Filter endpoints' }).fill(last)
  await expect(page.getByRole('rowheader')).toHaveCount(1)
  await expect(rowOf(page, last)).toBeVisible()
})

freshTest(
  'A bulk change keeps failed endpoints selected with their reasons',
  async ({ page, gatehouse, browserErrors }) => {
    const addresses: string[] = []
    for (const databases of [['blog'], ['blog', 'shop'], ['news', 'shop']]) {
      const endpoint = `tcp://127.0.0.1:${await gatehouse.freePort()}`
      addresses.push(endpoint)
      await gatehouse.post('/_db/_system/_api/endpoint', { endpoint, databases })
    }
    const [only = '', both = '', news = ''] = addresses
    await gatehouse.signIn(page, consolePath)
    for (const address of addresses) {
      await page.getByRole('checkbox', { name: `Select ${address}` }).check()
    }
    const chosen = page.getByRole('region', { name: 'Selected endpoints' })
    await expect(chosen).toContainText('3 selected')

    await page.getByRole('searchbox', { name: 'Filter endpoints' }).fill('db:news')
    await expect(chosen).toContainText('3 selected · 2 of 3 hidden')
    await page.getByRole('searchbox', { name: 'Filter endpoints' }).fill('')

    await chosen.getByRole('button', { name: 'Remove a database' }).click()
    const taking = page.getByRole('dialog', { name: 'Remove a database from 3 endpoints' })
    await taking.getByLabel('Database').selectOption('blog')
    await expect(taking).toContainText('blog is its only database.')
    await expect(taking.getByRole('list', { name: 'What will change' })).toHaveText(
      `${both} blog, shop → shop`,
    )
    await taking.getByRole('button', { name: 'Remove database' }).click()
    await expect(taking).toBeHidden()
    const bar = page.getByRole('region', { name: 'Last change' })
    await expect(bar).toContainText('1 endpoint was changed.')
    await expect(rowOf(page, both)).not.toContainText('blog')
    await expect(rowOf(page, only)).toContainText('blog')
    // The endpoint whose change failed stays selected.
    await expect(chosen).toContainText('1 selected')
    await expect(page.getByRole('checkbox', { name: `Select ${only}` })).toBeChecked()
    expect((await gatehouse.get(`${both.replace('tcp', 'http')}/_db/blog/`)).status).toBe(404)

    await page.getByRole('checkbox', { name: 'Select all shown endpoints' }).click()
    await expect(chosen).toContainText('4 selected')
    await chosen.getByRole('button', { name: 'Remove endpoints' }).click()
    const removing = page.getByRole('dialog', { name: 'Remove 3 endpoints?' })
    await expect(removing).toContainText('3 of 4 will be removed.')
    await expect(removing).toContainText('Without it, no one could sign in')
    await removing.getByRole('button', { name: 'Remove endpoints' }).click()
    await expect(bar).toContainText('3 endpoints were removed.')
    await (await listen(Number(news.split(':').at(-1)))).close()

    // One undo covers all changes; one fails because another program has its port.
    const program = await listen(Number(news.split(':').at(-1)))
    await bar.getByRole('button', { name: 'Undo' }).click({ trial: true })
    await page.keyboard.press('Control+z')
    await expect(bar).toContainText('2 of 3 changes were undone. 1 failed.')
    await expect(bar).toContainText(`${news} Port`)
    // Until they have drained, the removed endpoints are listed beside their successors.
    await expect(rowOf(page, both)).toHaveCount(1)
    await expect(rowOf(page, only)).toHaveCount(1)
    await expect(rowOf(page, both)).toContainText('shop')
    await expect(rowOf(page, only)).toContainText('blog')
    await program.close()
    await bar.getByRole('button', { name: 'Close' }).click()
    await expect(bar).toBeHidden()

    // The dialog names the endpoint of this page, which is removed last.
    browserErrors.allow(/^(request failed|http 404) /)
    const own = `tcp://127.0.0.1:${gatehouse.port}`
    const other = `tcp://127.0.0.1:${await gatehouse.freePort()}`
    await gatehouse.post('/_db/_system/_api/endpoint', { endpoint: other, databases: ['_system'] })
    await expect(rowOf(page, other)).toBeVisible()
    for (const address of [own, both]) {
      await page.getByRole('checkbox', { name: `Select ${address}` }).check()
    }
    await chosen.getByRole('button', { name: 'Remove endpoints' }).click()
    const leaving = page.getByRole('dialog', { name: /^Remove \d endpoints\?$/ })
    await expect(leaving).toContainText(`${own} (you are connected through it)`)
    await expect(leaving).toContainText('This page will stop working.')
    await leaving.getByRole('button', { name: 'Remove and disconnect' }).click()
    const after = page.getByRole('region', { name: 'Last change' })
    await after.getByRole('link', { name: `Open the console at ${other}` }).click()
    await expect(rowOf(page, other)).toBeVisible()
    await expect(rowOf(page, own)).toBeHidden()
  },
)

test('Rows are selected and removed by keyboard without losing the focus', async ({
  page,
  gatehouse,
}) => {
  const addresses: string[] = []
  for (let at = 0; at < 3; at++) {
    const endpoint = `tcp://127.0.0.2:${await gatehouse.freePort()}`
    addresses.push(endpoint)
    await gatehouse.post('/_db/_system/_api/endpoint', { endpoint, databases: ['blog'] })
  }
  const [first = '', second = '', third = ''] = addresses.toSorted()
  await gatehouse.signIn(page, consolePath)
  await rowOf(page, first).focus()
  await page.keyboard.press('Space')
  await page.keyboard.press('Shift+ArrowDown')
  await expect(rowOf(page, second)).toBeFocused()
  await expect(page.getByText('2 selected')).toBeVisible()
  // Extending selects the focused row and the next one, and deselects none.
  const select = (address: string) => page.getByRole('checkbox', { name: `Select ${address}` })
  await page.getByRole('button', { name: 'Clear selection' }).click()
  await page.getByRole('searchbox', { name: 'Filter endpoints' }).fill('127.0.0.2')
  await page.getByRole('checkbox', { name: 'Select all shown endpoints' }).check()
  await expect(page.getByText('3 selected')).toBeVisible()
  await rowOf(page, first).focus()
  await page.keyboard.press('Shift+ArrowDown')
  await expect(rowOf(page, second)).toBeFocused()
  await expect(page.getByText('3 selected')).toBeVisible()
  await page.getByRole('button', { name: 'Clear selection' }).click()
  await select(third).check()
  await page.getByRole('searchbox', { name: 'Filter endpoints' }).fill('')
  await rowOf(page, first).focus()
  await page.keyboard.press('Shift+ArrowDown')
  await expect(page.getByText('3 selected')).toBeVisible()
  await select(third).uncheck()
  await rowOf(page, second).focus()
  await page.keyboard.press('Enter')
  const panel = page.getByRole('dialog', { name: second })
  await expect(panel.getByRole('heading', { name: second })).toBeFocused()
  await expect(page).toHaveURL(/open=/)
  await page.keyboard.press('Escape')
  await expect(rowOf(page, second)).toBeFocused()

  await gatehouse.delete(`/_db/_system/_api/endpoint/${encodeURIComponent(second)}`)
  await expect(rowOf(page, second)).toBeHidden()
  await expect(page.locator('[data-row]:focus')).toBeVisible()
  await expect(page.getByText('1 selected')).toBeVisible()
})

test('Rows do not move when another console changes endpoints', async ({
  page,
  gatehouse,
  context,
}) => {
  const own = `tcp://127.0.0.1:${gatehouse.port}`
  await gatehouse.signIn(page, consolePath)
  const other = await context.newPage()
  await other.goto(consolePath)
  await expect(rowOf(other, own)).toBeVisible()
  const before = (await rowOf(other, own).boundingBox())?.y

  // The new endpoint sorts before the existing one.
  const fresh = `tcp://127.0.0.0:${await gatehouse.freePort()}`.replace('127.0.0.0', '127.0.0.1')
  const early = fresh.replace(/tcp:\/\/127\.0\.0\.1/, 'tcp://0.0.0.0')
  await gatehouse.post('/_db/_system/_api/endpoint', { endpoint: early, databases: ['blog'] })
  for (const console of [page, other]) {
    await expect(rowOf(console, early)).toContainText('Listening')
    await expect(console.getByRole('rowheader').first()).toContainText(own)
    await expect(console.getByText('1 new ·')).toBeVisible()
  }
  expect((await rowOf(other, own).boundingBox())?.y).toBe(before)

  await other.getByRole('button', { name: 'Show' }).click()
  await expect(other.getByRole('rowheader').first()).toContainText(early)
  await expect(rowOf(other, early)).toBeFocused()
  await expect(other.getByText('1 new ·')).toBeHidden()
})

test('On a phone, endpoints are a list of two-line items that scrolls with the page', async ({
  page,
  gatehouse,
}) => {
  await showMany(page, gatehouse, 300)
  await page.setViewportSize({ width: 390, height: 844 })
  await gatehouse.signIn(page, consolePath)
  const items = page.getByRole('list', { name: 'Endpoints and their listeners' })
  await expect(items.getByRole('listitem').first()).toHaveAttribute('aria-setsize', '301')
  expect(await items.getByRole('listitem').count()).toBeLessThan(60)
  await page.getByText('Select all shown endpoints').click()
  await expect(page.getByText('301 selected')).toBeVisible()
  await items.getByRole('listitem').first().focus()
  await page.keyboard.press('End')
  await expect(page.locator(':focus')).toHaveAttribute('aria-posinset', '301')
  await expect(page.locator(':focus')).toBeInViewport()
})
