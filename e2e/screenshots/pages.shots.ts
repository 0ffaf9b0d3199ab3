import type { Page } from '@playwright/test'
import { expect, type Gatehouse, freshTest as test } from '../support/server/gatehouse.ts'
import { withProvider } from '../support/server/with-provider.ts'
import { createSampleData, fakeTrafficHistory } from './sample-data.ts'
import { shoot } from './shoot.ts'
import { hold, refuse } from './states.ts'

// Screenshots of the pages other than Endpoints.

const SYSTEM = '/_db/_system/_api'

test.beforeEach(({ browserErrors }) => {
  // Some of these screenshots show rejected requests.
  browserErrors.allow(/./)
})

/** Opens a page of the console, and waits until its content is loaded. */
async function open(page: Page, path: string, ready: string | RegExp): Promise<void> {
  await page.goto(`/_console${path}`)
  await expect(page.getByText(ready).filter({ visible: true }).first()).toBeVisible()
  await expect(page.getByRole('status').filter({ hasText: 'Loading' })).toHaveCount(0)
}

/** Takes screenshots of a page while it loads and after loading failed. */
async function loadingAndFailed(page: Page, path: string, api: string): Promise<void> {
  const name = path.split('/').filter(Boolean).join('-')
  const release = await hold(page, api)
  await page.goto(`/_console${path}`, { waitUntil: 'commit' })
  await expect(page.getByText(/^Loading/).first()).toBeAttached()
  await shoot(page, `${name}-loading`)
  await release()
  const restore = await refuse(page, api)
  await page.goto(`/_console${path}`)
  await expect(page.getByRole('button', { name: 'Try again' }).first()).toBeVisible({
    timeout: 30_000,
  })
  await shoot(page, `${name}-failed`)
  await restore()
}

test('overview', async ({ page, gatehouse }) => {
  await gatehouse.signIn(page, '/_console/overview')
  await expect(page.getByRole('heading', { name: 'Recent changes' })).toBeVisible()
  await shoot(page, 'overview-first')
  await page.getByRole('button', { name: 'account menu' }).click()
  await shoot(page, 'account-menu')
  await loadingAndFailed(page, '/overview', '**/_api/traffic*')
})

test('certificates', async ({ page, gatehouse }) => {
  await gatehouse.signIn(page, '/_console/certificates')
  await expect(page.getByText('There are no certificates yet')).toBeVisible()
  await shoot(page, 'certificates-first')
  const certificates = `${SYSTEM}/certificate`
  for (const name of ['web', 'partner', 'old']) {
    const names = ['localhost', `${name}.example.org`, '192.0.2.10']
    await gatehouse.post(certificates, { name, kind: 'local', names })
  }
  const address = `ssl://127.0.0.1:${await gatehouse.freePort()}`
  await gatehouse.post(`${SYSTEM}/endpoint-change`, {
    changes: [
      {
        endpoint: address,
        databases: [],
        policy: { readOnly: true, tls: { certificates: ['web', 'old'] } },
        expect: null,
      },
    ],
  })
  await page.route(`**${certificates}`, async (route) => {
    const response = await route.fetch()
    if (route.request().method() !== 'GET') return route.fulfill({ response })
    const records = await response.json()
    const at = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString()
    const [old, partner] = records
    old.current = { ...old.current, notBefore: at(-84), notAfter: at(6) }
    old.error = { message: 'The names are no longer permitted.', at: at(-1) }
    partner.kind = 'acme'
    partner.current = { ...partner.current, notBefore: at(-82), notAfter: at(8), issuer: 'R11' }
    partner.order = { state: 'failed', reason: 'Port 80 is not reachable.', nextAttempt: at(0.1) }
    await route.fulfill({ response, json: records })
  })
  await open(page, '/certificates', 'partner')
  await shoot(page, 'certificates-full')
  await open(page, '/certificates?open=web', 'Serial number')
  await shoot(page, 'certificates-details')
  await open(page, '/certificates?remove=web', 'cannot be deleted')
  await shoot(page, 'certificates-in-use')
  await open(page, '/certificates/new', 'Add a certificate')
  await shoot(page, 'certificates-add')
  await page.getByText('Upload', { exact: true }).click()
  await page.keyboard.press('Control+Enter')
  await shoot(page, 'certificates-upload')
  await open(page, '/endpoints', address)
  await shoot(page, 'certificates-endpoint')
  const like = new URLSearchParams({ like: address })
  await open(page, `/endpoints/new?${like}`, 'Add endpoint')
  await shoot(page, 'certificates-add-endpoint')
  await open(
    page,
    `/endpoints?${new URLSearchParams({ policy: address, section: 'tls' })}`,
    'Oldest version',
  )
  await page.getByText('Optional', { exact: true }).click()
  await page.getByRole('button', { name: 'Add a name' }).click()
  await page.getByText('Oldest version').scrollIntoViewIfNeeded()
  await shoot(page, 'certificates-policy')
})

test('databases', async ({ page, gatehouse }, { parallelIndex }) => {
  await gatehouse.signIn(page, '/_console/data')
  await expect(page.getByText('So far there is only _system')).toBeVisible()
  await shoot(page, 'databases-first')
  const sample = await createSampleData(gatehouse, parallelIndex)
  await open(page, '/data', 'archive')
  await shoot(page, 'databases-full')
  await open(page, '/data/blog', 'articles')
  await shoot(page, 'database')
  await open(page, '/data/blog?dialog=drop', 'Drop')
  await shoot(page, 'databases-drop')
  await open(page, '/data?dialog=create', 'Create database')
  await page.keyboard.type('my shop')
  await shoot(page, 'databases-create')
  await open(page, '/data?dialog=import', 'Import database')
  await shoot(page, 'databases-import')
  await loadingAndFailed(page, '/data', '**/_api/database*')
  for (let at = 0; at < 120; at += 1) {
    await gatehouse.post(`${SYSTEM}/database`, { name: `tenant-${String(at).padStart(3, '0')}` })
  }
  await open(page, '/data', 'tenant-001')
  await shoot(page, 'databases-many')
  await sample.close()
})

test('documents', async ({ page, gatehouse }, { parallelIndex }) => {
  const sample = await createSampleData(gatehouse, parallelIndex)
  await gatehouse.post('/_db/news/items', { id: 'one' })
  await gatehouse.signIn(page, '/_console/data')
  const blog = '/data/blog/articles'
  await open(page, '/data/blog', 'articles')
  await shoot(page, 'documents-collections')
  await open(page, '/data/archive', 'archive contains no documents')
  await shoot(page, 'documents-none')
  await open(page, blog, 'Notes on sockets')
  await shoot(page, 'documents-many')
  for (const [state, search, ready] of [
    ['view', '?open=2026-001', '"title"'],
    ['edit', '?edit=2026-001', '"title"'],
    ['create', '?create=1', 'Create document'],
    ['delete', '?remove=2026-001', 'Delete'],
    ['import', '?import=1', 'Import documents'],
    ['filtered', '?filter=author%3Dada', 'ada'],
    ['no-match', '?filter=title%3DNone', /No document/],
  ] as const) {
    await open(page, blog + search, ready)
    await shoot(page, `documents-${state}`)
  }
  await open(page, `${blog}/schema`, /schema/i)
  await shoot(page, 'documents-schema')
  await open(page, `${blog}/indexes`, 'No indexes yet.')
  await shoot(page, 'documents-indexes')
  await open(page, '/data/absent', /absent/)
  await shoot(page, 'documents-absent')
  await loadingAndFailed(page, blog, '**/_db/blog/articles*')
  await sample.close()
})

test('access', async ({ page, gatehouse, browser }) => {
  const provider = await withProvider(gatehouse)
  await makeTokens(gatehouse)
  const context = await browser.newContext({ baseURL: gatehouse.url })
  const ada = await context.newPage()
  await ada.goto('/_console/')
  await ada.getByRole('button', { name: 'Sign in with Example ID' }).click()
  await expect(ada.getByRole('heading', { name: 'Waiting for a role' })).toBeVisible()
  await context.close()
  await gatehouse.signIn(page, '/_console/access/people')
  await open(page, '/access/people', 'oidc:')
  await shoot(page, 'access-people')
  await page.getByRole('button', { name: /^Give access to oidc:/ }).click()
  await expect(page.getByRole('dialog')).toBeVisible()
  await shoot(page, 'access-give')
  await page.keyboard.press('Escape')
  await page.getByRole('link', { name: 'oidc:ada' }).click()
  await expect(page.getByRole('table', { name: 'Sessions' })).toBeVisible()
  await shoot(page, 'access-person')
  await open(page, '/access/people?invite=yes', 'Signs in with')
  await shoot(page, 'access-invite')
  await open(page, '/access/tokens', 'nightly backup')
  await shoot(page, 'access-tokens')
  await page.getByRole('button', { name: 'Revoke nightly backup' }).click()
  await shoot(page, 'access-revoke')
  await page.keyboard.press('Escape')
  await open(page, '/access/tokens/new', 'Create token')
  await shoot(page, 'access-token-new')
  await page.getByLabel('Name').fill('deploy')
  await page.keyboard.press('Control+Enter')
  await expect(page.getByText('It will not be shown again.')).toBeVisible()
  await shoot(page, 'access-token-made')
  const settings = { kind: 'github', clientId: 'gatehouse', clientSecret: 'not a secret' }
  await gatehouse.post('/_db/_system/_api/provider', { name: 'github', ...settings })
  await open(page, '/access/providers', 'Managed here')
  await shoot(page, 'access-providers')
  await open(page, '/access/providers?add=yes', 'Issuer')
  await shoot(page, 'access-provider-new')
  await page.keyboard.press('Escape')
  const opened = page.waitForEvent('popup')
  await page.getByRole('button', { name: 'Test sign-in with Example ID' }).click()
  await expect((await opened).getByText('The test passed')).toBeVisible()
  await shoot(await opened, 'provider-test')
  await expect(page.getByText('The test passed.')).toBeVisible()
  await shoot(page, 'access-provider-test')
  const invitation = { provider: 'oidc', role: 'editor', databases: ['blog'] }
  const made = await gatehouse.post('/_db/_system/_api/invitation', invitation)
  const visitor = await (await browser.newContext()).newPage()
  await visitor.goto((made.body as { url: string }).url)
  await shoot(visitor, 'invitation')
  await visitor.context().close()
  await open(page, '/me', 'Preferences')
  await shoot(page, 'me')
  await loadingAndFailed(page, '/access/tokens', '**/_api/token*')
  await loadingAndFailed(page, '/access/people', '**/_api/user*')
  await provider.close()
})

async function makeTokens(gatehouse: Gatehouse): Promise<void> {
  for (const [name, role, databases] of [
    ['nightly backup', 'viewer', ['blog', 'shop']],
    ['metrics', 'viewer', undefined],
    ['deploy from the build', 'operator', undefined],
  ] as const) {
    await gatehouse.post(`${SYSTEM}/token`, { name, role, databases })
  }
}

test('webhooks', async ({ page, gatehouse }) => {
  await gatehouse.signIn(page, '/_console/webhooks')
  await expect(page.getByText('There are no webhooks yet')).toBeVisible()
  await shoot(page, 'webhooks-first')
  await gatehouse.post(`${SYSTEM}/database`, { name: 'blog' })
  await gatehouse.put('/_db/blog/_feed/articles', {})
  for (const name of ['search', 'archive', 'mail']) {
    await gatehouse.post(`${SYSTEM}/webhook`, {
      ...{ name, url: `https://${name}.example.org/hook`, filter: 'year:gte=2000' },
      ...{ database: 'blog', collections: ['articles'] },
    })
  }
  await page.route(`**${SYSTEM}/webhook`, async (route) => {
    const response = await route.fetch()
    if (route.request().method() !== 'GET') return route.fulfill({ response })
    const records = await response.json()
    const at = (minutes: number) => new Date(Date.now() + minutes * 60_000).toISOString()
    const [archive, mail] = records
    archive.state = 'failing'
    archive.behind = { changes: 412, oldest: at(-3) }
    archive.lastResponse = { status: 500, at: at(-1), error: 'The response was 500.' }
    archive.retryAt = at(5)
    mail.state = 'paused'
    mail.reason = 'Paused by ada.'
    mail.behind = { changes: 3, oldest: at(-90) }
    await route.fulfill({ response, json: records })
  })
  await open(page, '/webhooks', 'archive')
  await shoot(page, 'webhooks-full')
  await open(page, '/webhooks?open=mail', 'Paused by ada.')
  await page.getByRole('button', { name: 'Send a test' }).click()
  await page.getByText(/The test failed/).waitFor()
  await page.getByText(/^Test, /).click()
  await shoot(page, 'webhooks-details')
  await open(page, '/webhooks/new', 'Add a webhook')
  await shoot(page, 'webhooks-add')
  await open(page, '/data/blog/articles/follow', 'Last position')
  await shoot(page, 'documents-follow')
  await open(page, '/data/blog/notes/follow', 'notes has no feed.')
  await shoot(page, 'documents-follow-off')
  await loadingAndFailed(page, '/webhooks', '**/_api/webhook')
})

test('activity', async ({ page, gatehouse }, { parallelIndex }) => {
  const sample = await createSampleData(gatehouse, parallelIndex)
  await fakeTrafficHistory(page)
  await gatehouse.post(`${SYSTEM}/endpoint`, { endpoint: sample.blog, databases: ['blog', 'news'] })
  await gatehouse.signIn(page, '/_console/activity')
  await open(page, '/activity', 'mapped')
  await shoot(page, 'activity-full')
  await page
    .getByRole('button', { name: / mapped .*, details$/ })
    .first()
    .click()
  await page.getByText('Raw JSON').click()
  await shoot(page, 'activity-open')
  await open(page, '/activity?who=nobody', 'No activity matches')
  await shoot(page, 'activity-no-match')
  await loadingAndFailed(page, '/activity', '**/_api/audit*')
  await sample.close()
})
