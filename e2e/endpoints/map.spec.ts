import type { Page } from '@playwright/test'
import { consolePath } from '../support/page/endpoints-page.ts'
import { expect, type Gatehouse, test } from '../support/server/gatehouse.ts'

const mapPath = '/_console/endpoints/map'

const add = (gatehouse: Gatehouse, endpoint: string, ...databases: string[]) =>
  gatehouse.post('/_db/_system/_api/endpoint', { endpoint, databases })

const address = (gatehouse: Gatehouse, host: number) =>
  `tcp://127.78.${(host >> 8) + 1}.${host & 255}:${gatehouse.port}`

/**
 * Creates two endpoints with the same mapping, one with a missing database, and an unmapped
 * database.
 */
async function makeSome(gatehouse: Gatehouse): Promise<void> {
  for (const name of ['shop', 'blog', 'idle']) {
    await gatehouse.post('/_db/_system/_api/database', { name })
  }
  await gatehouse.post('/_db/_system/_api/endpoint', {
    endpoint: `tcp://127.0.0.1:${gatehouse.port}`,
    databases: ['_system'],
  })
  await add(gatehouse, address(gatehouse, 1), 'shop', 'blog')
  await add(gatehouse, address(gatehouse, 2), 'shop', 'blog')
  await add(gatehouse, address(gatehouse, 3), 'blog', 'later')
}

const picture = (page: Page) =>
  page.getByRole('figure', { name: 'Endpoints and the databases they serve' })

test('The map shows which endpoints serve which databases as a picture and as tables', async ({
  page,
  gatehouse,
}) => {
  await makeSome(gatehouse)
  await gatehouse.signIn(page, consolePath)
  await page.getByRole('link', { name: 'Map' }).click()
  const views = page.getByRole('navigation', { name: 'View' }).getByRole('link')
  await expect(views.and(page.locator('[aria-current="page"]'))).toHaveText('Map')
  const map = picture(page)
  const endpoints = map.getByRole('list', { name: 'Endpoints' }).getByRole('listitem')
  const databases = map.getByRole('list', { name: 'Databases' }).getByRole('listitem')
  await expect(endpoints).toHaveCount(3)
  await expect(endpoints.filter({ hasText: '2 endpoints' })).toContainText(
    /Listening.*serves shop and blog/,
  )
  await expect(databases.filter({ hasText: 'idle' })).toContainText('not served')
  await expect(databases.filter({ hasText: 'later' })).toContainText('does not exist')
  const lines = map.locator('svg path[d^="M0 "]:not([d*="H"])')
  await expect(lines).toHaveCount(5)
  await expect(map.locator('svg path[d*="C"][data-default]')).toHaveCount(3)
  const byMapping = page.getByRole('table', { name: 'By mapping' })
  await expect(byMapping.getByRole('row', { name: '2 endpoints' })).toContainText('shop')
  const byDatabase = page.getByRole('table', { name: 'By database' })
  await expect(byDatabase.getByRole('row', { name: 'blog' })).toContainText(
    /Served.*1 endpoint.*3 endpoints/,
  )
  await expect(byDatabase.getByRole('row', { name: 'idle' })).toContainText('Not served')

  await databases.filter({ hasText: 'blog' }).hover()
  await expect(map.locator('path[data-lit]')).toHaveCount(2)

  await add(gatehouse, address(gatehouse, 4))
  await expect(map.getByRole('link', { name: 'All databases', exact: true })).toBeVisible()
  await expect(databases.filter({ hasText: 'idle' })).toContainText('through All databases')
  await expect(endpoints).toHaveCount(4)
})

test('The map can be used by keyboard', async ({ page, gatehouse, browserErrors }) => {
  // The endpoint of the page serves only _system.
  browserErrors.allow(/^http 404 GET .*\/_api\/collection\?database=shop$/)
  await makeSome(gatehouse)
  await gatehouse.signIn(page, mapPath)
  const group = picture(page).getByRole('button', { name: /^2 endpoints/ })
  await group.focus()
  await expect(picture(page).locator('path[data-lit]')).toHaveCount(2)
  await page.keyboard.press('Enter')
  const toggle = page.getByRole('button', { name: '2 endpoints', exact: true })
  await expect(toggle).toBeFocused()
  await expect(toggle).toHaveAttribute('aria-expanded', 'true')
  await page.keyboard.press('Tab')
  await expect(page.getByRole('link', { name: address(gatehouse, 1) })).toBeFocused()
  await page.keyboard.press('Enter')
  await expect(page).toHaveURL(/endpoints\?open=tcp/)
  await page.goBack()

  await picture(page).getByRole('link', { name: 'shop', exact: true }).focus()
  await page.keyboard.press('Enter')
  await expect(page).toHaveURL(/\/data\/shop$/)
  await expect(page.getByRole('main')).toContainText(
    'The collections of shop cannot be shown. The endpoint that you are connected through does not serve shop.',
  )
})
