import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { request } from 'node:https'
import type { Page } from '@playwright/test'
import { createTestAuthority } from '../server/certificates/certificates.testing.ts'
import { chooseEveryDatabase, consolePath, openTab, rowOf } from './support/page/endpoints-page.ts'
import { expect, freshTest, type Gatehouse, test } from './support/server/gatehouse.ts'

const API = '/_db/_system/_api'
const PAGE = '/_console/certificates'

const dialogOf = (page: Page, name: string | RegExp) => page.getByRole('dialog', { name })
const toast = (page: Page) => page.getByRole('region', { name: 'Last change' })
const tableRow = (page: Page, name: string) =>
  page.getByRole('row').filter({ has: page.getByRole('button', { name: `${name}, details` }) })

/** Sends a request to an `ssl` endpoint of this machine with Node's `https`; resolves with the status. */
async function ask(port: number, ca: string): Promise<number> {
  const sent = request({ host: '127.0.0.1', port, path: '/_api/health', ca, agent: false }).end()
  const [response] = await once(sent, 'response')
  response.resume()
  return response.statusCode
}

/** Adds a local certificate by the API. */
const addLocal = (gatehouse: Gatehouse, name: string) =>
  gatehouse.post(`${API}/certificate`, { name, kind: 'local', names: [`${name}.example`] })

freshTest(
  'From an empty server to a green ssl endpoint that clients trust',
  async ({ page, gatehouse }) => {
    const port = await gatehouse.freePort()
    const address = `ssl://127.0.0.1:${port}`
    await gatehouse.signIn(page, `${consolePath}/new`)
    const form = dialogOf(page, 'Add endpoint')
    await form.getByText('ssl', { exact: true }).click()
    await form.getByLabel('Port').fill(`${port}`)
    await chooseEveryDatabase(page)
    await page.keyboard.press('Control+Enter')
    await expect(form.getByText('Choose a certificate, or add one.')).toBeVisible()

    // Enter in the dialog over the form saves only the certificate, which the form then uses.
    await form.getByRole('button', { name: 'Add a certificate…' }).click()
    const dialog = dialogOf(page, 'Add a certificate')
    await expect(dialog.getByLabel('Names')).toHaveValue('127.0.0.1')
    await dialog.getByLabel('Name', { exact: true }).fill('web')
    await page.keyboard.press('Enter')
    await expect(dialog).toBeHidden()
    await expect(form.getByRole('list', { name: 'Certificates in order' })).toContainText('web')
    await page.keyboard.press('Control+Enter')
    await expect(form).toBeHidden()
    await expect(rowOf(page, address)).toContainText('Listening')
    await expect(rowOf(page, address)).toContainText('TLS: web')

    await page.goto(`${PAGE}?open=web`)
    await expect(tableRow(page, 'web')).toContainText('in 90 d')
    await expect(tableRow(page, 'web').getByRole('link', { name: address })).toBeVisible()
    const download = page.waitForEvent('download')
    await page.getByRole('link', { name: 'Download gatehouse-root.crt' }).click()
    const root = readFileSync(await (await download).path(), 'utf8')
    expect(await ask(port, root)).toBe(200)
    await expect(ask(port, (await createTestAuthority()).ca)).rejects.toThrow()

    // It is renewed while it is in use, and cannot be deleted.
    const serial = page.getByRole('definition').filter({ hasText: /^[0-9a-f]{16,}$/i })
    const before = (await serial.textContent()) ?? ''
    await page.getByRole('button', { name: 'Renew now' }).click()
    await expect(toast(page)).toContainText('Certificate web renewed')
    await expect(serial).not.toHaveText(before)
    expect(await ask(port, root)).toBe(200)
    await page.getByRole('button', { name: 'Delete certificate' }).click()
    const refusal = dialogOf(page, 'web cannot be deleted')
    await expect(refusal).toContainText('An endpoint uses this certificate.')
    await refusal.getByRole('link', { name: address }).click()
    await expect(await openTab(page, address, 'Policy')).toContainText('web; TLS 1.2 or newer')

    // A second certificate is added to the endpoint from its own details.
    await addLocal(gatehouse, 'other')
    await page.goto(`${PAGE}?open=other`)
    await page.getByRole('button', { name: 'Use on an endpoint' }).click()
    await page.getByRole('menuitem', { name: address }).click()
    const tls = dialogOf(page, /^TLS/)
    await expect(tls).toContainText('Certificates: web, other')
    await tls.getByRole('button', { name: 'Save policy' }).click()
    await expect(page.getByRole('tabpanel', { name: 'Policy' })).toContainText('web, other')
  },
)

test('A certificate is uploaded, replaced and deleted, and all problems are shown at once', async ({
  page,
  gatehouse,
  browserErrors,
}) => {
  browserErrors.allow(/^http 422 (POST|PUT) .*\/_api\/certificate/)
  const authority = await createTestAuthority()
  const expired = await createTestAuthority(Date.parse('2020-01-01T00:00:00Z'))
  const [right, wrong, old] = [
    await authority.issue('a.example', 'b.example', 'c.example'),
    await authority.issue('d.example'),
    await expired.issue('e.example'),
  ]
  const pem = (name: string, text: string) => ({
    name,
    mimeType: 'application/x-pem-file',
    buffer: Buffer.from(text),
  })
  await gatehouse.signIn(page, PAGE)
  await expect(page.getByText('There are no certificates yet.')).toBeVisible()
  await page.getByRole('button', { name: 'Add certificate' }).click()
  const dialog = dialogOf(page, 'Add a certificate')
  await dialog.getByLabel('Name', { exact: true }).fill('shop')
  await dialog.getByText('Upload', { exact: true }).click()
  await page.keyboard.press('Control+Enter')
  await expect(dialog.getByText('Choose a file, or paste the certificate.')).toBeVisible()
  await expect(dialog.getByText('Choose a file, or paste the private key.')).toBeVisible()

  const input = dialog.locator('input[type="file"]')
  await input.setInputFiles([pem('key.pem', wrong.key), pem('chain.pem', old.certificate)])
  await expect(dialog.getByLabel('Private key')).toHaveValue(wrong.key)
  await page.keyboard.press('Control+Enter')
  await expect(dialog.getByLabel('Certificate and chain')).toHaveAccessibleDescription(
    /Expired on 2020/,
  )
  await expect(dialog.getByLabel('Private key')).toHaveAccessibleDescription(
    'Does not belong to the certificate.',
  )
  await input.setInputFiles([pem('all.pem', `${right.key}${right.certificate}`)])
  await expect(dialog.getByText('Does not belong')).toBeHidden()
  await page.keyboard.press('Control+Enter')
  await expect(dialog).toBeHidden()
  await expect(toast(page)).toContainText('Certificate shop added')
  const row = tableRow(page, 'shop')
  await expect(row).toContainText('a.example, b.example+1')
  await expect(row).toContainText('Replace it by hand')
  await expect(page.getByText('No endpoint').last()).toBeVisible()

  // The key is not in the page.
  await page.getByRole('button', { name: 'Replace…' }).click()
  const replacing = dialogOf(page, 'Replace shop')
  await expect(replacing.getByLabel('Private key')).toHaveValue('')
  await replacing.getByText('Local authority', { exact: true }).click()
  await replacing.getByLabel('Names').fill('not a name!')
  await page.keyboard.press('Control+Enter')
  await expect(replacing.getByLabel('Names')).toHaveAccessibleDescription(/"name!" is neither/)
  await replacing.getByLabel('Names').fill('localhost')
  await page.keyboard.press('Control+Enter')
  await expect(toast(page)).toContainText('Certificate shop replaced')
  await expect(row).toContainText('localhost')

  // Others see the change, and a deletion that another person makes.
  await addLocal(gatehouse, 'late')
  await expect(tableRow(page, 'late')).toBeVisible()
  await gatehouse.delete(`${API}/certificate/late`)
  await expect(tableRow(page, 'late')).toBeHidden()
  await page.getByRole('button', { name: 'Delete certificate' }).click()
  await dialogOf(page, 'Delete certificate shop?')
    .getByRole('button', { name: 'Delete certificate' })
    .click()
  await expect(toast(page)).toContainText('Certificate shop deleted')
  await expect(page.getByText('There are no certificates yet.')).toBeVisible()
})

test('A PKCS #12 file is added with its passphrase', async ({ page, gatehouse, browserErrors }) => {
  browserErrors.allow(/^http 422 POST .*\/_api\/certificate/)
  const pfx = readFileSync('server/certificates/testdata/first.p12.base64', 'utf8')
  await gatehouse.signIn(page, PAGE)
  await page.getByRole('button', { name: 'Add certificate' }).click()
  const dialog = dialogOf(page, 'Add a certificate')
  await dialog.getByLabel('Name', { exact: true }).fill('shop')
  await dialog.getByText('Upload', { exact: true }).click()
  await dialog.locator('input[type="file"]').setInputFiles({
    name: 'first.p12',
    mimeType: 'application/x-pkcs12',
    buffer: Buffer.from(pfx, 'base64'),
  })
  await expect(dialog.getByRole('button', { name: 'Use PEM instead of first.p12' })).toBeVisible()
  const passphrase = dialog.getByLabel('Passphrase')
  await passphrase.fill('wrong')
  await page.keyboard.press('Control+Enter')
  await expect(passphrase).toHaveAccessibleDescription(/Is not that of the file\./)
  await passphrase.fill('secret')
  await expect(dialog.getByText('Is not that of the file.')).toBeHidden()
  await page.keyboard.press('Control+Enter')
  await expect(dialog).toBeHidden()
  await expect(toast(page)).toContainText('Certificate shop added')
  await expect(tableRow(page, 'shop')).toContainText('localhost, 127.0.0.1+1')
})

test('The policy of an ssl endpoint orders certificates and accepts client certificates', async ({
  page,
  gatehouse,
}) => {
  const { ca } = await createTestAuthority()
  const port = await gatehouse.freePort()
  const address = `ssl://127.0.0.1:${port}`
  for (const name of ['one', 'two']) await addLocal(gatehouse, name)
  const policy = { tls: { certificates: ['one'] } }
  const change = { endpoint: address, databases: ['blog'], policy, expect: null }
  await gatehouse.post(`${API}/endpoint-change`, { changes: [change] })
  await gatehouse.post(`${API}/token`, { name: 'backup', role: 'viewer' })
  await gatehouse.signIn(
    page,
    `${consolePath}?${new URLSearchParams({ policy: address, section: 'tls' })}`,
  )
  const form = dialogOf(page, `TLS · ${address}`)
  await form.getByLabel('Choose a certificate').selectOption('two')
  await form.getByRole('button', { name: 'Make two first' }).click()
  const list = form.getByRole('list', { name: 'Certificates in order' })
  await expect(list.getByRole('listitem').first()).toContainText('two')
  await expect(list.getByRole('listitem').first()).toBeFocused()
  await form.getByText('TLS 1.3', { exact: true }).click()
  await form.getByText('Optional', { exact: true }).click()
  await form.getByRole('button', { name: 'Add a name' }).click()
  await page.keyboard.press('Control+Enter')
  await expect(form.getByText('Paste the certificates of the authority')).toBeVisible()
  await expect(form.getByText('Enter a name and choose a token')).toBeVisible()
  await form.getByLabel('Authority of the clients').fill(ca)
  await form.getByLabel('Name 1').fill('backup.example')
  await form.getByLabel('Token 1').selectOption('backup (viewer)')
  await expect(form).toContainText('TLS 1.3 or newer, with the certificates two and one.')
  await page.keyboard.press('Control+Enter')
  await expect(form).toBeHidden()
  // Beside the panel, the table has no column of rules.
  await page.keyboard.press('Escape')
  await expect(rowOf(page, address)).toContainText('TLS: two + 1')
  const path = `${API}/policy?${new URLSearchParams({ endpoint: address })}`
  expect((await gatehouse.get(path)).body).toMatchObject({
    policy: {
      tls: {
        certificates: ['two', 'one'],
        minVersion: '1.3',
        clientAuth: { ca, mode: 'request', tokens: [{ san: 'backup.example' }] },
      },
    },
  })
})

test('The row of an endpoint warns of a certificate that expires soon', async ({
  page,
  gatehouse,
}) => {
  const port = await gatehouse.freePort()
  const address = `ssl://127.0.0.1:${port}`
  await addLocal(gatehouse, 'soon')
  const policy = { readOnly: true, tls: { certificates: ['soon'] } }
  const change = { endpoint: address, databases: ['blog'], policy, expect: null }
  await gatehouse.post(`${API}/endpoint-change`, { changes: [change] })
  await page.route(`**${API}/certificate`, async (route) => {
    const response = await route.fetch()
    const [record] = await response.json()
    const at = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString()
    const current = { ...record.current, notBefore: at(-84), notAfter: at(6) }
    await route.fulfill({ response, json: [{ ...record, current }] })
  })
  await gatehouse.signIn(page, consolePath)
  await expect(rowOf(page, address)).toContainText('certificate expires in 6 d')
  await page.goto(PAGE)
  await expect(tableRow(page, 'soon')).toContainText('Soon in 6 d')
})
