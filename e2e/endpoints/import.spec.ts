import { Buffer } from 'node:buffer'
import { readFile } from 'node:fs/promises'
import type { Page } from '@playwright/test'
import { consolePath, rowOf } from '../support/page/endpoints-page.ts'
import { expectAccessible } from '../support/page/expect-accessible.ts'
import { expect, freshTest, type Gatehouse, test } from '../support/server/gatehouse.ts'
import { listen } from '../support/server/listen.ts'

const importPath = '/_console/endpoints/import'

interface EndpointRecord {
  endpoint: string
  databases: string[]
}

const toFile = (records: readonly unknown[], name = 'endpoints.json') => ({
  name,
  mimeType: 'application/json',
  buffer: Buffer.from(JSON.stringify(records, null, 1)),
})

const formOf = (page: Page) => page.getByRole('dialog', { name: 'Import endpoints' })

const choose = (page: Page, records: readonly unknown[]) =>
  formOf(page).locator('input[type=file]').setInputFiles(toFile(records))

const configured = async (gatehouse: Gatehouse) =>
  (await gatehouse.get('/_db/_system/_api/endpoint')).body as EndpointRecord[]

const add = (gatehouse: Gatehouse, endpoint: string, databases: string[]) =>
  gatehouse.post('/_db/_system/_api/endpoint', { endpoint, databases })

/** Returns addresses that no other test uses, each on its own loopback address. */
const loopback = (count: number, port: number) =>
  Array.from(
    { length: count },
    (_, index) => `tcp://127.77.${(index >> 8) + 1}.${index & 255}:${port}`,
  )

test('An import previews the changes and applies them', async ({ page, gatehouse }) => {
  await gatehouse.post('/_db/_system/_api/database', { name: 'shop' })
  const own = `tcp://127.0.0.1:${gatehouse.port}`
  const [kept, gone, fresh] = loopback(3, gatehouse.port) as [string, string, string]
  await add(gatehouse, kept, ['shop'])
  await add(gatehouse, gone, ['shop'])
  await gatehouse.signIn(page, importPath)
  await choose(page, [
    { endpoint: own, databases: [], database: ['ignored'] },
    { endpoint: kept, databases: ['news', 'shop'] },
    { endpoint: fresh, databases: ['news'] },
  ])

  await expect(page.getByText('1 will be added and 1 changed. 1 is unchanged.')).toBeVisible()
  await expect(page.getByText('The endpoint that is not in the file will be kept.')).toBeVisible()
  const changed = page.getByRole('table', { name: 'Changed' }).getByRole('row', { name: kept })
  await expect(changed).toContainText(/shopdefault.*newsdefault.*shop/)
  await expect(page.getByText('The database news does not exist')).toBeVisible()
  await expect(page.getByRole('table', { name: 'Removed' })).toBeHidden()

  await page.getByLabel('Remove endpoints that are not in the file').check()
  await expect(
    page.getByRole('table', { name: 'Removed' }).getByRole('row', { name: gone }),
  ).toBeVisible()
  await expectAccessible(page)
  expect(await configured(gatehouse)).toHaveLength(3)

  await page.getByRole('button', { name: 'Import 3 changes' }).click()
  await expect(page.getByText('All 3 changes were made.').first()).toBeVisible()
  expect(await configured(gatehouse)).toEqual([
    { endpoint: own, databases: [] },
    { endpoint: kept, databases: ['news', 'shop'] },
    { endpoint: fresh, databases: ['news'] },
  ])
  await formOf(page).getByRole('button', { name: 'Close' }).last().click()
  await expect(rowOf(page, fresh)).toContainText('Listening')
})

test('All errors of a text are listed and fixed in place by keyboard', async ({
  page,
  gatehouse,
}) => {
  await gatehouse.signIn(page, importPath)
  const [address] = loopback(1, gatehouse.port) as [string]
  const form = formOf(page)
  const field = form.getByLabel('Or paste endpoints as JSON')
  await field.focus()
  await page.keyboard.insertText(`[\n{"endpoint": "${address}"\n{"endpoint": "tcp://127.1:1"}]`)
  await expect(form.getByText('Line 3, column 1')).toBeVisible()
  await page.keyboard.press('Control+Enter')
  await expect(form.getByText('Fix 1 error first.')).toBeVisible()
  await expect(field).toBeFocused()

  await page.keyboard.press('Control+A')
  await page.keyboard.insertText(`[\n{"endpoint": "${address}"},\n{"endpoint": "tcp://127.1:1"},7]`)
  await expect(form.getByText('Entry 2, line 3')).toBeVisible()
  await expect(form.getByText('Entry 3, line 3')).toBeVisible()
  await form.getByRole('button', { name: 'Entry 2, line 3' }).press('Enter')
  await expect(field).toBeFocused()
  expect(await page.evaluate(() => getSelection()?.toString())).toBe(
    '{"endpoint": "tcp://127.1:1"},7]',
  )

  await page.keyboard.press('Control+A')
  await page.keyboard.insertText(`[{"endpoint": "${address}", "databases": ["_system"]}]`)
  await expect(form.getByText('1 will be added.')).toBeVisible()
  // The input is kept over a reload.
  await page.reload()
  await form.getByRole('button', { name: 'Restore' }).click()
  await expect(form.getByRole('button', { name: 'Import 1 change' })).toBeVisible()
  await page.keyboard.press('Control+Enter')
  await expect(form.getByText('The change was made.').first()).toBeVisible()
  await expect(form.getByRole('button', { name: 'Close' }).last()).toBeFocused()
  expect((await configured(gatehouse)).map(({ endpoint }) => endpoint)).toContain(address)
})

freshTest(
  'An import that removes all admin access is rejected, and one that disconnects the page is confirmed',
  async ({ page, gatehouse, browserErrors }) => {
    browserErrors.allow(/^(request failed|http 404) /)
    await gatehouse.signIn(page, importPath)
    await choose(page, [{ endpoint: `tcp://127.0.0.1:${gatehouse.port}`, databases: ['blog'] }])
    await expect(page.getByText('After this change, no one can sign in')).toBeVisible()
    await expect(
      page.getByText(`The default database of tcp://127.0.0.1:${gatehouse.port} does not exist.`),
    ).toBeVisible()
    const button = page.getByRole('button', { name: 'Import 1 change' })
    await expect(button).toBeDisabled()
    await button.click({ force: true })
    const own = `tcp://127.0.0.1:${gatehouse.port}`
    expect(await configured(gatehouse)).toEqual([{ endpoint: own, databases: [] }])

    const port = await gatehouse.freePort()
    const other = `tcp://127.0.0.1:${port}`
    await choose(page, [
      { endpoint: own, databases: ['blog'] },
      { endpoint: other, databases: [] },
    ])
    const form = formOf(page)
    await expect(form.getByText(`You are connected through ${own}.`)).toBeVisible()
    await expect(form.getByRole('link', { name: `Open the console at ${other}` })).toBeVisible()
    await expectAccessible(page)
    expect(await configured(gatehouse)).toHaveLength(1)
    await form.getByRole('button', { name: 'Import and disconnect' }).click()
    const bar = page.getByRole('region', { name: 'Last change' })
    await bar.getByRole('link', { name: `Open the console at ${other}` }).click()
    await expect(page).toHaveURL(`http://127.0.0.1:${port}${consolePath}`)
    await expect(rowOf(page, own)).toContainText('blog')
  },
)

test('Failed changes are listed with their reasons, prevent removals and can be retried', async ({
  page,
  gatehouse,
}) => {
  const port = await gatehouse.freePort()
  const taken = `tcp://127.0.0.1:${port}`
  const [old, other] = loopback(2, gatehouse.port) as [string, string]
  await add(gatehouse, old, [])
  const program = await listen(port)
  await gatehouse.signIn(page, importPath)
  await choose(page, [
    { endpoint: `tcp://127.0.0.1:${gatehouse.port}` },
    { endpoint: taken },
    { endpoint: other },
  ])
  await page.getByLabel('Remove endpoints that are not in the file').check()
  await page.getByRole('button', { name: 'Import 3 changes' }).click()

  await expect(page.getByText('1 of 3 changes was made. 1 failed.').first()).toBeVisible()
  await expect(page.getByText('1 endpoint was not removed').first()).toBeVisible()
  await expect(formOf(page).getByRole('list', { name: 'Errors' })).toContainText(
    `${taken}: Port ${port} on 127.0.0.1 is used by another program.`,
  )
  expect((await configured(gatehouse)).map(({ endpoint }) => endpoint)).toContain(old)

  await program.close()
  await page.getByRole('button', { name: 'Show remaining changes' }).click()
  await page.getByRole('button', { name: 'Import 2 changes' }).click()
  await expect(page.getByText('All 2 changes were made.').first()).toBeVisible()
  const addresses = (await configured(gatehouse)).map(({ endpoint }) => endpoint)
  expect(addresses).toContain(taken)
  expect(addresses).not.toContain(old)
})

freshTest('An import of 150 is undone as a whole', async ({ page, gatehouse }) => {
  const addresses = loopback(150, gatehouse.port)
  await gatehouse.signIn(page, importPath)
  await choose(
    page,
    addresses.map((endpoint) => ({ endpoint, databases: ['_system'] })),
  )
  await expect(page.getByText('150 will be added.')).toBeVisible()
  await page.getByRole('button', { name: 'Import 150 changes' }).click()
  const bar = page.getByRole('region', { name: 'Last change' })
  await expect(bar).toContainText('All 150 changes were made.')
  expect(await configured(gatehouse)).toHaveLength(151)
  for (const address of [addresses[0], addresses[74], addresses[149]]) {
    const url = `http://${address?.slice('tcp://'.length)}/`
    expect((await gatehouse.get(url)).status, url).toBe(302)
  }
  await page.keyboard.press('Escape')
  await expect(formOf(page)).toBeHidden()
  await page.keyboard.press('Control+z')
  await expect(bar).toContainText('150 changes were undone.')
  expect(await configured(gatehouse)).toHaveLength(1)
})

test('An export has the endpoints of GET with their policies, and importing it changes nothing', async ({
  page,
  gatehouse,
}) => {
  const [one, two] = loopback(2, gatehouse.port) as [string, string]
  await add(gatehouse, one, ['shop', 'blog'])
  await add(gatehouse, two, [])
  await gatehouse.signIn(page, consolePath)
  const download = page.waitForEvent('download')
  await page.getByRole('button', { name: 'Export' }).click()
  const file = await (await download).path()
  expect((await download).suggestedFilename()).toMatch(/^gatehouse-endpoints-\d{8}T\d{6}Z\.json$/)
  await page.getByRole('link', { name: 'Import' }).click()
  await formOf(page).locator('input[type=file]').setInputFiles(file)
  await expect(page.getByText('3 are unchanged.')).toBeVisible()
  await expect(page.getByRole('button', { name: 'Import 0 changes' })).toBeDisabled()
  await page.goBack()
  await expect(rowOf(page, one)).toBeVisible()

  await page.getByRole('searchbox', { name: 'Filter endpoints' }).fill('db:shop 127.77')
  const some = page.waitForEvent('download')
  await page.getByRole('button', { name: 'Export filtered' }).click()
  const text = await readFile(await (await some).path(), 'utf8')
  expect(JSON.parse(text)).toEqual([
    { endpoint: one, databases: ['shop', 'blog'], policy: null },
    { endpoint: two, databases: [], policy: null },
  ])
})
