import type { Page } from '@playwright/test'
import { consolePath } from './support/page/endpoints-page.ts'
import { holdRequests } from './support/page/hold-requests.ts'
import { expect, sampleTest, test } from './support/server/gatehouse.ts'

test('The search finds pages, actions, databases and endpoints by keyboard', async ({
  page,
  gatehouse,
}) => {
  const address = `tcp://127.0.0.1:${await gatehouse.freePort()}`
  await gatehouse.post('/_db/_system/_api/endpoint', { endpoint: address, databases: ['shop'] })
  await gatehouse.post('/_db/_system/_api/database', { name: 'shop' })
  await gatehouse.signIn(page, consolePath)
  await expect(page.getByText('Live', { exact: true })).toBeVisible()

  await page.keyboard.press('Control+k')
  const search = page.getByRole('dialog', { name: 'Search' })
  const field = search.getByRole('combobox')
  const results = search.getByRole('option')
  await expect(field).toBeFocused()
  // Before any input, the search suggests the most useful results.
  await expect(search.getByRole('group', { name: 'Pages' })).toContainText('Endpoints')

  await field.fill('sho')
  await expect(results.first()).toContainText('shop')
  await expect(results.first()).toHaveAttribute('aria-selected', 'true')
  await expect(field).toHaveAttribute(
    'aria-activedescendant',
    (await results.first().getAttribute('id')) ?? '',
  )
  await page.keyboard.press('ArrowDown')
  await expect(results.nth(1)).toHaveAttribute('aria-selected', 'true')
  // A page up or down stops at the ends of the list.
  await page.keyboard.press('PageUp')
  await expect(results.first()).toHaveAttribute('aria-selected', 'true')
  await page.keyboard.press('PageDown')
  await expect(results.last()).toHaveAttribute('aria-selected', 'true')
  await page.keyboard.press('PageUp')
  await page.keyboard.press('Enter')
  await expect(page).toHaveURL(/\/data\/shop$/)
  await expect(search).toBeHidden()
  await expect(page.getByRole('main')).toBeFocused()

  // Recent choices come first.
  await page.keyboard.press('Control+k')
  await expect(search.getByRole('group', { name: 'Recent' })).toContainText('shop')

  await field.fill(address.slice(-5))
  await expect(results.filter({ hasText: address })).toBeVisible()
  await field.fill('no such thing')
  await expect(search.getByText('Nothing matches “no such thing”.')).toBeVisible()

  await page.keyboard.press('Escape')
  await expect(search).toBeHidden()
  await expect(page).toHaveURL(/\/data\/shop$/)
  // Going back from the result skips the search.
  await page.goBack()
  await expect(page).toHaveURL(new RegExp(`${consolePath}$`))
  await expect(search).toBeHidden()
})

test('Text typed in a filter is kept when the search opens', async ({ page, gatehouse }) => {
  await page.clock.install()
  await gatehouse.signIn(page, '/_console/activity')
  const filter = page.getByLabel('Who')
  await expect(filter).toBeVisible()
  // Debounced work runs when the clock resumes.
  await page.clock.pauseAt(Date.now() + 10_000)
  await filter.fill('853')
  await page.keyboard.press('Control+k')
  const search = page.getByRole('dialog', { name: 'Search' })
  await expect(page).toHaveURL(/#search$/)
  await page.clock.resume()
  await expect(page).toHaveURL(/\?who=853#search$/)
  await expect(search).toBeVisible()
  await page.keyboard.press('Escape')
  await expect(search).toBeHidden()
  await expect(filter).toHaveValue('853')
  await expect(page).toHaveURL(/\?who=853$/)
})

test('What is typed while the search loads is typed into its field, and changes no page', async ({
  page,
  gatehouse,
}) => {
  const held = await holdRequests(page, /\/assets\/search-dialog-.*\.js$/)
  await gatehouse.signIn(page, consolePath)
  const row = page.getByRole('row').filter({ has: page.getByRole('rowheader') })
  await row.first().focus()
  const search = page.getByRole('dialog', { name: 'Search' })

  // Escape cancels, and the keys act on the page again.
  await page.keyboard.press('Control+k')
  await page.keyboard.type('no')
  await page.keyboard.press('Escape')
  await expect(page).toHaveURL(new RegExp(`${consolePath}$`))
  await page.keyboard.press('?')
  await expect(page.getByRole('dialog', { name: 'Keyboard shortcuts' })).toBeVisible()
  await page.keyboard.press('Escape')
  await expect(page).toHaveURL(new RegExp(`${consolePath}$`))
  await expect(page.getByRole('dialog')).toHaveCount(0)

  await page.keyboard.press('Control+k')
  // Delete and Enter would act on the row, N and E on the page.
  await page.keyboard.press('Delete')
  await page.keyboard.press('Enter')
  await page.keyboard.type('endpoint nex')
  await page.keyboard.press('Backspace')
  await held.requested
  await expect(page).toHaveURL(new RegExp(`${consolePath}#search$`))
  await page.keyboard.press('Backspace')
  held.release()
  const field = search.getByRole('combobox')
  await expect(field).toBeFocused()
  await page.keyboard.type('!')
  await expect(field).toHaveValue('endpoint n!')
  await page.keyboard.press('Backspace')
  await expect(field).toHaveValue('endpoint n')
  await expect(search.getByRole('option').first()).toBeVisible()
  await page.keyboard.press('Escape')
  await expect(search).toBeHidden()

  // Once it is loaded, nothing is lost either, and the search begins empty.
  await page.keyboard.press('Control+k')
  await page.keyboard.type('people')
  await expect(field).toHaveValue('people')
})

/** Returns the databases whose collections a page has requested. */
function watchCollections(page: Page): string[] {
  const requested: string[] = []
  page.on('request', (request) => {
    const { pathname, searchParams } = new URL(request.url())
    if (pathname.endsWith('/_api/collection')) requested.push(searchParams.get('database') ?? '')
  })
  return requested
}

test('The search finds collections, and loads them once', async ({ page, gatehouse }) => {
  for (const name of ['blog', 'shop']) {
    await gatehouse.post('/_db/_system/_api/database', { name })
    await gatehouse.post(`/_db/${name}/articles`, { id: 'one' })
  }
  await gatehouse.post('/_db/shop/orders', { id: 'one' })
  const requested = watchCollections(page)
  await gatehouse.signIn(page, '/_console/me')
  await page.keyboard.press('Control+k')
  const search = page.getByRole('dialog', { name: 'Search' })
  const field = search.getByRole('combobox')
  const results = search.getByRole('option')
  await expect(search.getByRole('group', { name: 'Pages' })).toBeVisible()
  expect(requested).toEqual([])
  await field.pressSequentially('articles')
  await expect(results).toHaveText(['blog / articles', 'shop / articles'])
  await field.fill('shop/ord')
  await expect(results).toHaveText(['shop / orders'])
  expect(requested.toSorted()).toEqual(['_system', 'blog', 'shop'])
  await page.keyboard.press('Enter')
  await expect(page).toHaveURL(/\/data\/shop\/orders$/)

  // A recent collection is offered although its database is not searched yet.
  await page.goto('/_console/me')
  await expect(page.getByRole('button', { name: 'Search' })).toBeVisible()
  await page.keyboard.press('Control+k')
  await expect(search.getByRole('group', { name: 'Recent' })).toHaveText(/shop \/ ordersCollection/)
})

sampleTest(
  'The search finds people, tokens, certificates, webhooks and actions',
  async ({ page, sample }) => {
    const lists: string[] = []
    page.on('request', (request) => {
      const [, list] = /_api\/(token|certificate|webhook)(\?|$)/.exec(request.url()) ?? []
      if (list !== undefined) lists.push(list)
    })
    await page.goto('/_console/activity')
    const search = page.getByRole('dialog', { name: 'Search' })
    const field = search.getByRole('combobox')
    const group = (name: string) => search.getByRole('group', { name })
    await expect(page.getByText('Live', { exact: true })).toBeVisible()
    expect(lists).toEqual([])
    await page.keyboard.press('Control+k')
    await field.fill('nightly')
    await expect(group('Tokens').getByRole('option')).toContainText(['nightly backup'])
    await field.fill('web.example')
    await expect(group('Certificates').getByRole('option')).toContainText(['web'])
    await field.fill('hook.example')
    await expect(group('Webhooks').getByRole('option')).toContainText(['search'])
    expect(lists.toSorted()).toEqual(['certificate', 'token', 'webhook'])
    await field.fill('change theme')
    await expect(group('Actions').getByRole('option')).toHaveCount(3)

    await field.fill('oauth2:vera')
    await expect(group('People').getByRole('option')).toContainText(['Vera'])
    await page.keyboard.press('Enter')
    await expect(page).toHaveURL(new RegExp(`/access/people/${sample.ids.viewer}$`))
    for (const [action, dialog] of [
      ['Invite someone', 'Invite a person'],
      ['New token', 'Create token'],
      ['Create database', 'Create database'],
      ['Add webhook', 'Add a webhook'],
      ['Add certificate', 'Add a certificate'],
      ['Add endpoint', 'Add endpoint'],
    ] as const) {
      await page.keyboard.press('Control+k')
      await field.fill(action)
      await page.keyboard.press('Enter')
      await expect(page.getByRole('dialog', { name: dialog })).toBeVisible()
      await page.keyboard.press('Escape')
      await expect(page.getByRole('dialog')).toHaveCount(0)
    }
  },
)

sampleTest.describe('An operator', () => {
  sampleTest.use({ role: 'operator' })

  sampleTest('finds no people, and only their own tokens', async ({ page }) => {
    await page.goto('/_console/me')
    await expect(page.getByText('Live', { exact: true })).toBeVisible()
    await page.keyboard.press('Control+k')
    const search = page.getByRole('dialog', { name: 'Search' })
    for (const text of ['nightly', 'Invite someone']) {
      await search.getByRole('combobox').fill(text)
      await expect(search.getByText(`Nothing matches “${text}”.`)).toBeVisible()
    }
    await search.getByRole('combobox').fill('Vera')
    await expect(search.getByRole('status')).toHaveText(/result|Nothing/)
    await expect(search.getByRole('option', { name: 'Vera' })).toHaveCount(0)
    await expect(search.getByText('could not be loaded')).toHaveCount(0)
  })
})
