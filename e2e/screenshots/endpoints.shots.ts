import { connect } from 'node:net'
import {
  addDatabases,
  chooseInMenu,
  consolePath,
  openMenu,
  rowOf,
} from '../support/page/endpoints-page.ts'
import { expect, freshTest as test } from '../support/server/gatehouse.ts'
import { listen } from '../support/server/listen.ts'
import { storeEndpoints } from '../support/server/store-endpoints.ts'
import { createSampleData, fakeTrafficHistory } from './sample-data.ts'
import { shoot } from './shoot.ts'
import { becomes, hold, refuse } from './states.ts'

// Screenshots of the Endpoints page in all its states.

const at = (search: Record<string, string>) => `${consolePath}?${new URLSearchParams(search)}`

test.beforeEach(({ browserErrors }) => {
  // Some of these screenshots show rejected requests.
  browserErrors.allow(/./)
})

test('endpoints: first start, loading, failed', async ({ page, gatehouse }) => {
  await gatehouse.signIn(page)
  await expect(page.getByText('One endpoint so far')).toBeVisible()
  await shoot(page, 'endpoints-first')

  const release = await hold(page, '**/_api/endpoint')
  await page.reload({ waitUntil: 'commit' })
  await expect(page.getByText('Loading the endpoints…')).toBeAttached()
  await shoot(page, 'endpoints-loading')
  await release()

  const restore = await refuse(page, '**/_api/endpoint')
  await page.reload()
  await expect(page.getByRole('button', { name: 'Try again' })).toBeVisible({ timeout: 30_000 })
  await shoot(page, 'endpoints-failed')
  await restore()
  await becomes(page, 'viewer')
  await page.reload()
  await expect(page.getByText('You are a viewer')).toBeVisible()
  await shoot(page, 'endpoints-viewer')
})

test('endpoints: full, filtered, menu, keys, search', async ({ page, gatehouse }, {
  parallelIndex,
}) => {
  const sample = await createSampleData(gatehouse, parallelIndex)
  await fakeTrafficHistory(page)
  await gatehouse.signIn(page)
  await expect(rowOf(page, sample.failed)).toContainText('Failed')
  await expect(rowOf(page, sample.blog).locator('svg path').last()).toBeVisible()
  await shoot(page, 'endpoints-full')
  await rowOf(page, sample.shop).focus()
  await page.keyboard.press('ArrowDown')
  await shoot(page, 'endpoints-focus')
  await page.getByRole('searchbox').fill('state:failed')
  await expect(rowOf(page, sample.shop)).toBeHidden()
  await shoot(page, 'endpoints-filtered')
  await page.getByRole('searchbox').fill('state:failed 853')
  await expect(page.getByText('No endpoint matches')).toBeVisible()
  await shoot(page, 'endpoints-no-match')
  await page.getByRole('searchbox').fill('')
  await shoot(page, 'endpoints-menu', {
    prepare: async () => {
      await page.keyboard.press('Escape')
      await openMenu(page, sample.shop)
      await page.getByRole('menu').waitFor()
    },
  })
  await page.keyboard.press('Escape')
  await page.getByRole('heading', { name: 'Endpoints' }).click()
  await page.keyboard.press('?')
  await expect(page.getByRole('dialog')).toBeVisible()
  await shoot(page, 'keys-open')
  await page.keyboard.press('Escape')
  await expect(page.getByRole('dialog')).toBeHidden()
  await page.keyboard.press('Control+k')
  await expect(
    page.getByRole('dialog', { name: 'Search' }).getByRole('option').first(),
  ).toBeVisible()
  await shoot(page, 'search-open')
  await page.getByRole('dialog', { name: 'Search' }).getByRole('combobox').fill('sho')
  await shoot(page, 'search-results')
  await page.getByRole('dialog', { name: 'Search' }).getByRole('combobox').fill('no such thing')
  await shoot(page, 'search-no-match')
  await page.keyboard.press('Escape')

  for (const view of ['map', 'import']) {
    await page.goto(`${consolePath}/${view}`)
    await expect(page.getByRole('heading', { level: 1 })).toBeVisible()
    await expect(page.getByText('Loading')).toHaveCount(0)
    await shoot(page, `endpoints-${view}`)
  }
  await page.locator('input[type=file]').setInputFiles({
    name: 'endpoints.json',
    mimeType: 'application/json',
    buffer: Buffer.from(
      JSON.stringify([
        { endpoint: `tcp://127.0.0.1:${gatehouse.port}`, databases: [] },
        { endpoint: sample.shop, databases: ['shop', 'metrics', 'orders'] },
        { endpoint: sample.blog, databases: ['blog'] },
        { endpoint: `tcp://127.20.${parallelIndex}.9:8590`, databases: ['blog'] },
        { endpoint: 'tcp://192.0.2.7:8590', databases: ['archive'] },
      ]),
    ),
  })
  await page.getByLabel('Remove endpoints that are not in the file').check()
  await shoot(page, 'endpoints-import-preview')
  await page.getByRole('button', { name: /^Import \d+ changes/ }).click()
  await expect(page.getByRole('button', { name: 'Show remaining changes' })).toBeVisible()
  await shoot(page, 'endpoints-import-rejected')
  await sample.close()
})

test('endpoints: panel', async ({ page, gatehouse }, { parallelIndex }) => {
  const sample = await createSampleData(gatehouse, parallelIndex)
  await fakeTrafficHistory(page)
  await gatehouse.signIn(page, at({ open: sample.shop }))
  const panel = page.getByRole('dialog', { name: sample.shop })
  await expect(panel.getByRole('slider')).toBeVisible()
  await shoot(page, 'endpoints-panel')
  for (const kind of ['Bytes', 'Connections']) {
    await panel.getByRole('radio', { name: kind }).check({ force: true })
    await shoot(page, `endpoints-panel-${kind.toLowerCase()}`)
  }
  for (const tab of ['Databases', 'Policy', 'Connect', 'Changes']) {
    await panel.getByRole('tab', { name: tab }).click()
    await expect(panel.getByRole('tabpanel', { name: tab })).not.toContainText('Loading')
    await shoot(page, `endpoints-panel-${tab.toLowerCase()}`)
  }
  await page.goto(at({ open: sample.failed }))
  await expect(page.getByRole('button', { name: 'Try now' })).toBeVisible()
  await shoot(page, 'endpoints-panel-failed')
  await page.goto(at({ open: `tcp://127.0.0.1:${gatehouse.port}` }))
  await expect(page.getByRole('dialog').getByText('You are here')).toBeVisible()
  await shoot(page, 'endpoints-panel-here')
  await page.goto(at({ open: 'tcp://127.0.0.1:1' }))
  await expect(page.getByRole('button', { name: 'Back to the list' })).toBeVisible()
  await shoot(page, 'endpoints-panel-absent')
  await sample.close()
})

test('endpoints: live requests', async ({ page, gatehouse }, { parallelIndex }) => {
  const sample = await createSampleData(gatehouse, parallelIndex)
  const url = sample.shop.replace('tcp:', 'http:')
  const send = async () => {
    for (const path of ['/orders', '/orders/2026-0417', '/products?limit=20']) {
      await gatehouse.get(`${url}${path}`)
    }
    await fetch(`${url}/orders/2026-0417`, { method: 'DELETE' })
    await fetch(`${url}/customers-of-the-northern-region/archived/2026`)
    await fetch(`${url}/_db/nowhere/articles`)
  }
  await gatehouse.signIn(page, at({ open: sample.shop, tab: 'requests' }))
  const requests = page.getByRole('tabpanel', { name: 'Requests' })
  await expect(requests.getByText('No requests yet.')).toBeVisible()
  await shoot(page, 'endpoints-panel-requests-none')
  await send()
  await expect(requests.getByText('Database not served')).toBeVisible()
  await shoot(page, 'endpoints-panel-requests')
  await requests.getByRole('button', { name: 'DELETE' }).click()
  await send()
  await shoot(page, 'endpoints-panel-requests-open')
  await requests.getByPlaceholder('/articles').fill('/none')
  await expect(requests.getByText('No request matches the filter.')).toBeVisible()
  await shoot(page, 'endpoints-panel-requests-no-match')

  await page.goto(`${consolePath}/requests`)
  await expect(page.getByText('Database not served').first()).toBeVisible()
  await shoot(page, 'endpoints-requests')
  await page.getByRole('button', { name: 'DELETE' }).first().click()
  await shoot(page, 'endpoints-requests-open')
  await page.route('**/_api/events?**', (route) => route.abort())
  await page.getByLabel('Status').selectOption('403')
  await expect(page.getByText('Retrying in')).toBeVisible()
  await shoot(page, 'endpoints-requests-lost')
  await page.unroute('**/_api/events?**')
  await becomes(page, 'viewer')
  await page.route('**/_api/events?**', async (route) => {
    // Requests of others, as a viewer sees them.
    const url = route
      .request()
      .url()
      .replace(/events\?.*/, 'request?rejected=true')
    const list = (await (await route.fetch({ url })).json()) as object[]
    const requests = list.map((each) => ({ ...each, client: null }))
    const batch = { type: 'requests', requests, leftOut: 1_204, isFirst: true }
    const body = `event: hello\ndata:\n\ndata: ${JSON.stringify(batch)}\n\n`
    await route.fulfill({ contentType: 'text/event-stream', body })
  })
  await page.reload()
  await expect(page.getByText('1,204 requests are not shown')).toBeVisible()
  await page.getByRole('button', { name: 'DELETE' }).first().click()
  await shoot(page, 'endpoints-requests-viewer')
  await sample.close()
})

test('endpoints: forms', async ({ page, gatehouse }, { parallelIndex }) => {
  const sample = await createSampleData(gatehouse, parallelIndex)
  await gatehouse.signIn(page, `${consolePath}/new`)
  const form = page.getByRole('dialog', { name: 'Add endpoint' })
  await expect(form.getByLabel('Port')).toBeFocused()
  await shoot(page, 'endpoint-add-empty')
  await page.keyboard.press('Control+Enter')
  await shoot(page, 'endpoint-add-errors')
  const port = await gatehouse.freePort()
  const other = await listen(port)
  await form.getByLabel('Port').fill(`${port}`)
  await addDatabases(page, 'blog', 'shop', 'archive', 'later')
  await shoot(page, 'endpoint-add-filled')
  await page.keyboard.press('Control+Enter')
  await expect(form.getByText('is used by another program')).toBeVisible()
  await shoot(page, 'endpoint-add-rejected')
  await other.close()
  await page.goto(consolePath)
  await chooseInMenu(page, sample.shop, 'Edit mapping')
  const mapping = page.getByRole('dialog', { name: `Mapping of ${sample.shop}` })
  await mapping.getByRole('button', { name: 'Remove archive' }).click()
  await shoot(page, 'endpoint-mapping')
  await page.route('**/_api/endpoint', async (route) => {
    if (route.request().method() === 'POST') {
      await gatehouse.post('/_db/_system/_api/endpoint', {
        endpoint: sample.shop,
        databases: ['shop', 'news'],
      })
    }
    await route.continue()
  })
  await page.keyboard.press('Control+Enter')
  await expect(mapping.getByText('Someone changed this mapping')).toBeVisible()
  await shoot(page, 'endpoint-mapping-conflict')
  await page.unroute('**/_api/endpoint')
  await sample.close()
})

test('endpoints: removal, undo, several', async ({ page, gatehouse }, { parallelIndex }) => {
  const sample = await createSampleData(gatehouse, parallelIndex)
  await fakeTrafficHistory(page)
  await gatehouse.signIn(page)
  await chooseInMenu(page, sample.shop, 'Remove endpoint')
  await expect(page.getByRole('button', { name: 'Keep it' })).toBeVisible()
  await shoot(page, 'endpoint-remove')
  await page.keyboard.press('Escape')
  await chooseInMenu(page, `tcp://127.0.0.1:${gatehouse.port}`, 'Remove endpoint')
  await expect(page.getByRole('dialog')).toBeVisible()
  await shoot(page, 'endpoint-remove-own')
  await page.keyboard.press('Escape')

  for (const address of [sample.shop, sample.blog, sample.failed]) {
    await page.getByRole('checkbox', { name: `Select ${address}` }).check()
  }
  await shoot(page, 'endpoints-selected')
  const chosen = page.getByRole('region', { name: 'Selected endpoints' })
  for (const [button, state] of [
    ['Add a database', 'add'],
    ['Remove a database', 'remove-database'],
    ['Remove endpoints', 'remove'],
  ] as const) {
    await chosen.getByRole('button', { name: button }).click()
    const dialog = page.getByRole('dialog')
    await expect(dialog).toBeVisible()
    if (state === 'remove-database') await dialog.getByLabel('Database').selectOption('shop')
    await shoot(page, `endpoints-several-${state}`)
    await dialog.getByRole('button', { name: 'Close' }).first().click()
    await expect(dialog).toBeHidden()
  }
  await chosen.getByRole('button', { name: 'Clear' }).click()

  await page.clock.install()
  await page.reload()
  await chooseInMenu(page, sample.blog, 'Remove endpoint')
  await page.getByRole('button', { name: 'Remove endpoint' }).click()
  const bar = page.getByRole('region', { name: 'Last change' })
  await expect(bar).toBeVisible()
  await bar.getByRole('button', { name: 'Undo' }).focus()
  await shoot(page, 'endpoints-undo')
  // A response that is on its way would fail once the page is closed.
  await page.unrouteAll({ behavior: 'ignoreErrors' })
  await sample.close()
})

test.describe('with time to drain', () => {
  test.use({ drain: 60 })

  test('endpoints: draining', async ({ page, gatehouse }, { parallelIndex }) => {
    const sample = await createSampleData(gatehouse, parallelIndex)
    await gatehouse.signIn(page)
    const address = `127.20.${parallelIndex}.4`
    // A client with a request in progress, whose body is incomplete.
    const client = connect(8530, address).on('error', () => {})
    const token = await gatehouse.token()
    client.write(
      `POST /articles HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${token}\r\nContent-Length: 9\r\n\r\n{`,
    )
    const status = async () => (await gatehouse.get(listenerOf(sample.blog))).body
    await expect.poll(status).not.toMatchObject([{ connections: 0 }])
    await gatehouse.delete(`/_db/_system/_api/endpoint/${encodeURIComponent(sample.blog)}`)
    await expect(rowOf(page, sample.blog)).toContainText('Draining')
    await shoot(page, 'endpoints-draining')
    client.destroy()
    await sample.close()
  })
})

const listenerOf = (endpoint: string) =>
  `/_db/_system/_api/listener?${new URLSearchParams({ endpoint })}`

test('endpoints: many', async ({ page, gatehouse }) => {
  await gatehouse.stop()
  await storeEndpoints(gatehouse.data, 2_000)
  await gatehouse.restart()
  await gatehouse.signIn(page)
  await expect(page.getByText('2,001 endpoints')).toBeVisible({ timeout: 30_000 })
  await shoot(page, 'endpoints-many')
  await page.goto(`${consolePath}/map`)
  await expect(page.getByRole('heading', { level: 1 })).toBeVisible()
  await shoot(page, 'endpoints-map-many')
})

test('policies: panel, form, lock-out, trial, turning off', async ({ page, gatehouse }, {
  parallelIndex,
}) => {
  const { shop } = await createSampleData(gatehouse, parallelIndex)
  const policy = `/_db/_system/_api/policy?${new URLSearchParams({ endpoint: shop })}`
  await gatehouse.put(policy, {
    closesIn: '2h',
    note: 'For the partner, until Friday',
    allow: ['192.0.2.0/24', '2001:db8::/32', '127.0.0.1'],
    readOnly: true,
    anonymous: { read: ['articles', 'notes'] },
    rateLimit: { requestsPerSecond: 50, burst: 100 },
  })
  await gatehouse.signIn(page, at({ open: shop, tab: 'policy' }))
  await expect(page.getByRole('button', { name: 'Edit: Limits' })).toBeVisible()
  await shoot(page, 'panel-policy')
  await page.goto(at({ open: shop, tab: 'requests' }))
  await page.getByRole('button', { name: 'Test', exact: true }).click()
  await expect(page.getByText(/^Admitted:/)).toBeVisible()
  await shoot(page, 'policy-test')
  for (const section of ['general', 'access', 'pages', 'limits']) {
    await page.goto(at({ policy: shop, section }))
    await expect(page.getByRole('button', { name: 'Save policy' })).toBeVisible()
    await shoot(page, `policy-${section}`)
  }
  await page.goto(at({ policy: shop, section: 'documents' }))
  await page.getByText('Read and write', { exact: true }).click()
  await shoot(page, 'policy')
  await page.getByRole('button', { name: 'Try for 60 seconds' }).click()
  await expect(page.getByText('Trying a policy of')).toBeVisible()
  await shoot(page, 'policy-trial')
  await page.goto(at({ policy: `tcp://127.0.0.1:${gatehouse.port}`, section: 'administration' }))
  await page.getByText('None here', { exact: true }).click()
  await shoot(page, 'policy-lock-out')
  await page.goto(at({ switch: shop }))
  await expect(page.getByRole('dialog', { name: `Turn off ${shop}?` })).toBeVisible()
  await shoot(page, 'turn-off')
})
