import { readFile } from 'node:fs/promises'
import { addressAtOnce } from './support/address-at-once.ts'
import { expect, type Gatehouse, test } from './support/gatehouse.ts'

const activityPath = '/_console/activity'

/** Adds an endpoint and maps it anew. */
async function changeEndpoint(gatehouse: Gatehouse): Promise<string> {
  const endpoint = `tcp://127.0.0.1:${await gatehouse.freePort()}`
  for (const databases of [['blog'], ['blog', 'shop']]) {
    await gatehouse.post('/_db/_system/_api/endpoint', { endpoint, databases })
  }
  return endpoint
}

test('What was changed stands there: who did it, and what was before', async ({
  page,
  gatehouse,
}) => {
  const endpoint = await changeEndpoint(gatehouse)
  await gatehouse.signIn(page, activityPath)
  const row = page.getByRole('row').filter({ hasText: 'Endpoint mapped anew' })
  await expect(row).toContainText(endpoint)
  await expect(row).toContainText('local:operator')
  await expect(row).toContainText('by token')

  await row.getByRole('button', { name: /before and after$/ }).click()
  const sides = page.getByRole('table', { name: 'Before and after' })
  await expect(sides.getByRole('row').filter({ hasText: 'databases' })).toContainText(
    /\["blog"\]\s*\["blog", "shop"\]/,
  )
  await expect(page).toHaveURL(/open=\d+/)
  await page.goBack()
  await expect(sides).toBeHidden()
})

test('The filter lives in the address of the page, and the export holds what it lets through', async ({
  page,
  gatehouse,
}) => {
  await changeEndpoint(gatehouse)
  await gatehouse.signIn(page, activityPath)
  const address = await addressAtOnce(page)
  await page.getByLabel('Who').fill('LOCAL:')
  expect(await address()).toBe('?who=LOCAL%3A')
  // What was typed counts a moment later, and leaves what was chosen meanwhile.
  await page.getByLabel('What').selectOption('Endpoints: all')
  const rows = page.getByRole('row').filter({ hasText: /^(Endpoint|Signed|Token)/ })
  await expect(rows.filter({ hasText: 'Signed in' })).toHaveCount(0)
  await expect(page).toHaveURL(/(?=.*who=LOCAL%3A)(?=.*what=endpoint)/)
  await page.reload()
  await expect(page.getByLabel('What')).toHaveValue('endpoint')
  await expect(rows).toHaveCount(2)

  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: 'Export' }).click(),
  ])
  expect(download.suggestedFilename()).toMatch(/^gatehouse-activity-\d{8}T\d{6}Z\.jsonl$/)
  const lines = (await readFile(await download.path(), 'utf8')).trimEnd().split('\n')
  expect(lines.map((line) => JSON.parse(line))).toMatchObject([
    { action: 'endpoint.map', at: expect.stringMatching(/Z$/) },
    { action: 'endpoint.add', actor: 'local:operator' },
  ])

  await page.getByLabel('Who').fill('nobody')
  await expect(page.getByText('Nothing on record matches the filter.')).toBeVisible()
  await page.getByRole('button', { name: 'Clear filters' }).last().click()
  await expect(rows.filter({ hasText: 'Signed in' })).toHaveCount(1)
})

test('Older rows are loaded when asked for, newer ones shown when asked for', async ({
  page,
  gatehouse,
  faults,
}) => {
  faults.allow(/^request failed /)
  for (let number = 0; number < 60; number += 1) {
    await gatehouse.post('/_db/_system/_api/database', { name: `d${number}` })
  }
  await gatehouse.signIn(page, `${activityPath}?what=database`)
  const created = page.getByRole('row').filter({ hasText: 'Database created' })
  await expect(created).toHaveCount(50)
  await page.getByRole('button', { name: 'Load older' }).click()
  await expect(created).toHaveCount(60)
  await expect(page.getByRole('button', { name: 'Load older' })).toBeHidden()

  await gatehouse.post('/_db/_system/_api/database', { name: 'newest' })
  const news = page.getByRole('button', { name: '1 new · Show' })
  await expect(news).toBeVisible()
  // After a gap in the events everything is read anew, but no row moves by that.
  await gatehouse.stop()
  await expect(page.getByText(/^No connection since/)).toBeVisible()
  const read = page.waitForResponse(/_api\/audit/)
  await gatehouse.restart()
  await read
  await expect(page.getByText('Live', { exact: true })).toBeVisible()
  await expect(created).toHaveCount(60)
  await news.click()
  await expect(created.first()).toContainText('newest')
})
