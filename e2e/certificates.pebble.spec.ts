import { once } from 'node:events'
import { request } from 'node:https'
import { startPebble } from '../server/certificates/acme/pebble.testing.ts'
import { chooseEveryDatabase, consolePath, rowOf } from './support/page/endpoints-page.ts'
import { expect, freshTest as test } from './support/server/gatehouse.ts'

test('From an empty server to a green ssl endpoint with a certificate of an ACME directory', async ({
  page,
  gatehouse,
}) => {
  const pebble = await startPebble()
  try {
    await gatehouse.restart(pebble.env)
    await gatehouse.signIn(page, '/_console/certificates')
    await page.getByRole('button', { name: 'Add certificate' }).click()
    const dialog = page.getByRole('dialog', { name: 'Add a certificate' })
    await dialog.getByText('ACME', { exact: true }).click()
    await dialog.getByLabel('Name', { exact: true }).fill('shop')
    await dialog.getByLabel('Names').fill('shop.example')
    await page.keyboard.press('Control+Enter')
    await expect(dialog).toBeHidden()
    const row = page
      .getByRole('row')
      .filter({ has: page.getByRole('button', { name: 'shop, details' }) })
    await expect(row).toContainText('Pebble')
    await expect(row).toContainText('shop.example')

    const port = await gatehouse.freePort()
    await page.goto(`${consolePath}/new`)
    const form = page.getByRole('dialog', { name: 'Add endpoint' })
    await form.getByText('ssl', { exact: true }).click()
    await form.getByLabel('Port').fill(`${port}`)
    await form.getByLabel('Choose a certificate').selectOption('shop')
    await chooseEveryDatabase(page)
    await page.keyboard.press('Control+Enter')
    await expect(form).toBeHidden()
    await expect(rowOf(page, `ssl://127.0.0.1:${port}`)).toContainText('Listening')

    const ca = await pebble.root()
    const target = { host: '127.0.0.1', port, path: '/_api/health', servername: 'shop.example', ca }
    const [response] = await once(request({ ...target, agent: false }).end(), 'response')
    response.resume()
    expect(response.statusCode).toBe(200)
  } finally {
    await pebble.stop()
  }
})
