import { readFile } from 'node:fs/promises'
import { expectAccessibleInBothThemes } from './support/page/expect-accessible.ts'
import { watchUrl } from './support/page/watch-url.ts'
import { expect, freshTest, type Gatehouse, test } from './support/server/gatehouse.ts'

const activityPath = '/_console/activity'

/** Adds an endpoint and changes its mapping. */
async function changeEndpoint(gatehouse: Gatehouse): Promise<string> {
  const endpoint = `tcp://127.0.0.1:${await gatehouse.freePort()}`
  for (const databases of [['blog'], ['blog', 'shop']]) {
    await gatehouse.post('/_db/_system/_api/endpoint', { endpoint, databases })
  }
  return endpoint
}

freshTest(
  'The filter is part of the URL, and the export contains the filtered rows',
  async ({ page, gatehouse }) => {
    await changeEndpoint(gatehouse)
    await gatehouse.signIn(page, activityPath)
    const address = await watchUrl(page)
    await page.getByLabel('Who').fill('L:OPER')
    expect(await address()).toBe('?who=L%3AOPER')
    // The typed text applies after a moment and keeps a selection made in between.
    await page.getByLabel('What').selectOption('Endpoints: all')
    const rows = page.getByRole('main').getByRole('listitem')
    await expect(rows.filter({ hasText: 'signed in' })).toHaveCount(0)
    await expect(page).toHaveURL(/(?=.*who=L%3AOPER)(?=.*what=endpoint)/)
    await page.reload()
    await expect(page.getByLabel('What')).toHaveValue('endpoint')
    await expect(rows).toHaveCount(2)

    const exportAs = async (format: string) => {
      await page.getByRole('button', { name: 'Export' }).click()
      await page.getByRole('menuitem', { name: format }).click()
    }
    const [download] = await Promise.all([page.waitForEvent('download'), exportAs('JSON lines')])
    expect(download.suggestedFilename()).toMatch(/^gatehouse-activity-\d{8}T\d{6}Z\.jsonl$/)
    const lines = (await readFile(await download.path(), 'utf8')).trimEnd().split('\n')
    expect(lines.map((line) => JSON.parse(line))).toMatchObject([
      { action: 'endpoint.map', at: expect.stringMatching(/Z$/) },
      { action: 'endpoint.add', actor: 'local:operator', token: expect.any(String) },
    ])
    const [csv] = await Promise.all([page.waitForEvent('download'), exportAs('CSV')])
    expect(await readFile(await csv.path(), 'utf8')).toMatch(/^seq,at,actor,actorName,by,token,/)

    await page.getByLabel('Who').fill('nobody')
    await expect(page.getByText('No activity matches the filter.')).toBeVisible()
    await page.getByRole('button', { name: 'Clear filters' }).last().click()
    await expect(rows.filter({ hasText: 'Operator signed in' }).first()).toBeVisible()
  },
)

freshTest(
  'The day reads like sentences, and a bulk change is one row',
  async ({ page, gatehouse }) => {
    const api = '/_db/_system/_api'
    const [one, two] = [await changeEndpoint(gatehouse), await changeEndpoint(gatehouse)]
    const changes = [one, two].map((endpoint) => ({ endpoint, databases: ['news'] }))
    await gatehouse.post(`${api}/endpoint-change`, { changes })
    await gatehouse.post(`${api}/database`, { name: '_system' })
    await gatehouse.signIn(page, activityPath)
    const entries = page.getByRole('main').getByRole('listitem')
    await expect(page.getByRole('heading', { name: /^Today/ })).toBeVisible()
    await expect(entries.first()).toContainText('Operator signed in')

    const bulk = page.getByRole('button', { name: /changed 2 endpoints, details$/ })
    await expect(entries.filter({ hasText: 'to news' })).toHaveCount(0)
    await bulk.click()
    await expect(entries.filter({ has: bulk }).getByRole('listitem')).toHaveCount(2)
    await page.getByRole('button', { name: `mapped ${one} to news, details` }).click()
    await expect(page.getByRole('definition')).toHaveText('blog, shop became news')
    await page.getByText('Raw JSON').click()
    await expect(page.getByText('"databases": [').first()).toBeVisible()
    await expectAccessibleInBothThemes(page)

    await page.getByLabel('Outcome').selectOption('Rejected')
    await expect(entries).toHaveCount(1)
    await expect(entries).toContainText('tried to create database _system Rejected')
    await page.getByLabel('Outcome').selectOption('Any')
    const today = page.getByRole('button', { name: 'Today', exact: true })
    await today.click()
    await expect(today).toHaveAttribute('aria-pressed', 'true')
    await expect(bulk).toBeVisible()
    await page.getByRole('button', { name: 'Yesterday', exact: true }).click()
    await expect(page.getByText('No activity matches the filter.')).toBeVisible()
  },
)

test('The first and the last day are typed', async ({ page, gatehouse }) => {
  await gatehouse.signIn(page, activityPath)
  const days: string[] = []
  page.on('request', (request) => {
    const { pathname, searchParams } = new URL(request.url())
    const day = pathname.endsWith('/_api/audit') ? searchParams.get('from') : null
    if (day !== null) days.push(day.slice(0, 10))
  })
  const [from, to] = [page.getByLabel('From'), page.getByLabel('To', { exact: true })]
  // `fill` would set the value at once, without its incomplete years.
  await from.focus()
  await page.keyboard.type('01312026')
  await expect(page).toHaveURL(/\?from=2026-01-31$/)
  await expect(from).toHaveValue('2026-01-31')
  await to.focus()
  await page.keyboard.type('01302026')
  await expect(page).toHaveURL(/\?from=2026-01-31&to=2026-01-30$/)
  await expect(page.getByText('Must not be before From')).toBeVisible()
  // The error below a field moves no other control of the filter.
  const clear = page.getByRole('search').getByRole('button', { name: 'Clear filters' })
  expect((await clear.boundingBox())?.y).toBe((await from.boundingBox())?.y)
  // The error is below its field, which stays beside the other one.
  expect((await to.boundingBox())?.y).toBe((await from.boundingBox())?.y)
  await page.reload()
  await expect(to).toHaveValue('2026-01-30')

  // Without its year, it is no day, and the rest stays in the field.
  await to.focus()
  await page.keyboard.press('Tab')
  await page.keyboard.press('Tab')
  await page.keyboard.press('Delete')
  await expect(page).toHaveURL(/\?from=2026-01-31$/)
  await page.keyboard.type('2027')
  await expect(page).toHaveURL(/&to=2027-01-30$/)
  await page.getByRole('button', { name: 'Clear filters' }).first().click()
  await expect(from).toHaveValue('')
  await expect(to).toHaveValue('')
  expect(new Set(days)).toEqual(new Set(['2026-01-31']))
})

freshTest(
  'An endpoint is restored to an earlier state after a preview',
  async ({ page, gatehouse }) => {
    for (const name of ['blog', 'shop']) {
      await gatehouse.post('/_db/_system/_api/database', { name })
    }
    const endpoint = await changeEndpoint(gatehouse)
    const stored = async () =>
      ((await gatehouse.get('/_db/_system/_api/endpoint')).body as { endpoint: string }[]).find(
        (each) => each.endpoint === endpoint,
      )
    await gatehouse.signIn(page, activityPath)
    const restore = async (what: string) => {
      await page
        .getByRole('button', { name: new RegExp(`${what} ${endpoint}.*, details$`) })
        .first()
        .click()
      await page.getByRole('link', { name: 'Restore previous state' }).click()
    }
    const dialog = page.getByRole('dialog', { name: `Restore ${endpoint}?` })
    await restore('mapped')
    await expect(dialog.getByRole('definition').first()).toContainText(/blog.*shop/)
    await expect(dialog.getByRole('definition').last()).not.toContainText('shop')
    await expectAccessibleInBothThemes(page)
    await page.goBack()
    await expect(dialog).toBeHidden()
    await page.goForward()
    await dialog.getByRole('button', { name: 'Restore mapping' }).click()
    const last = page.getByRole('region', { name: 'Last change' })
    // Hovering over the bar pauses its timeout.
    await last.hover()
    await expect(dialog).toBeHidden()
    expect(await stored()).toEqual({ endpoint, databases: ['blog'] })
    await last.getByRole('button', { name: 'Undo' }).click()
    await expect.poll(stored).toEqual({ endpoint, databases: ['blog', 'shop'] })

    // Restores the row of the addition, after which the mapping was changed.
    await page.goto(`${activityPath}?what=endpoint.add`)
    await restore('added endpoint')
    await expect(dialog).toContainText('The endpoint was changed again after this row.')
    await expect(dialog).toContainText('No endpoint')
    await dialog.getByRole('button', { name: 'Remove endpoint' }).click()
    await expect(dialog).toBeHidden()
    expect(await stored()).toBeUndefined()

    const own = `tcp://127.0.0.1:${gatehouse.port}`
    await page.getByRole('button', { name: `added endpoint ${own}` }).click()
    await page.getByRole('link', { name: 'Restore previous state' }).click()
    const refused = page.getByRole('dialog', { name: `Restore ${own}?` })
    await expect(refused).toContainText('Without this endpoint, no one can sign in')
    await expect(refused.getByRole('button', { name: 'Remove endpoint' })).toBeHidden()
  },
)
