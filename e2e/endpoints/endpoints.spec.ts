import { addDatabases, chooseInMenu, consolePath, rowOf } from '../support/page/endpoints-page.ts'
import { expect, test } from '../support/server/gatehouse.ts'
import { listen } from '../support/server/listen.ts'

// This file is long because it contains many journeys that share no code.

test('An endpoint is added, used, mapped to other databases and removed', async ({
  page,
  gatehouse,
}) => {
  for (const name of ['blog', 'shop']) {
    await gatehouse.post('/_db/_system/_api/database', { name })
  }
  const port = await gatehouse.freePort()
  const address = `tcp://127.0.0.1:${port}`
  const url = `http://127.0.0.1:${port}`

  await gatehouse.signIn(page, consolePath)
  await expect(
    page.getByText('One endpoint so far, the one you are connected through.'),
  ).toBeVisible()

  await page.getByRole('button', { name: 'Add endpoint' }).click()
  const form = page.getByRole('dialog', { name: 'Add endpoint' })
  await form.getByLabel('Port').fill(String(port))
  await addDatabases(page, 'blog', 'shop')
  await expect(form.getByText('Requests without a database name go to blog.')).toBeVisible()
  await form.getByRole('button', { name: 'Add endpoint' }).click()

  await expect(form).toBeHidden()
  await expect(rowOf(page, address)).toContainText('Listening')
  await expect(rowOf(page, address)).toBeFocused()
  expect(await gatehouse.get(url)).toMatchObject({ status: 200, body: { database: 'blog' } })
  expect((await gatehouse.get(`${url}/_db/shop/`)).status).toBe(200)

  await chooseInMenu(page, address, 'Edit mapping')
  const mapping = page.getByRole('dialog', { name: `Mapping of ${address}` })
  await mapping.getByRole('button', { name: 'Remove shop' }).click()
  await expect(mapping.getByText('No longer available here: shop.')).toBeVisible()
  await mapping.getByRole('button', { name: 'Save mapping' }).click()
  await expect(mapping).toBeHidden()
  await expect(rowOf(page, address)).not.toContainText('shop')
  expect((await gatehouse.get(`${url}/_db/shop/`)).status).toBe(404)

  await chooseInMenu(page, address, 'Remove endpoint')
  const question = page.getByRole('dialog', { name: `Remove ${address}?` })
  await expect(question).toContainText('New connections will be refused immediately')
  await question.getByRole('button', { name: 'Remove endpoint' }).click()
  await expect(question).toBeHidden()
  await expect(page.getByText('One endpoint so far')).toBeVisible()
  await (await listen(port)).close()
})

test('A port in use is explained at its field, and the form keeps its input', async ({
  page,
  gatehouse,
  browserErrors,
}) => {
  browserErrors.allow(/^http 409 POST .*\/_api\/endpoint$/)
  const port = await gatehouse.freePort()
  const other = await listen(port)
  await gatehouse.signIn(page, `${consolePath}/new`)
  const field = page.getByLabel('Port')
  await expect(field).toBeFocused()

  await page.keyboard.press('Control+Enter')
  await expect(field).toHaveAccessibleDescription('Enter a port from 1 to 65535.')

  await field.fill(String(port))
  await addDatabases(page, 'blog')
  await page.keyboard.press('Control+Enter')
  await expect(field).toHaveAccessibleDescription(
    `Port ${port} on 127.0.0.1 is used by another program. (EADDRINUSE)`,
  )
  await expect(field).toBeFocused()
  await expect(field).toHaveValue(String(port))
  await expect(page.getByRole('list', { name: 'Databases in order' })).toContainText('blog')

  await other.close()
  await page.keyboard.press('Control+Enter')
  await expect(rowOf(page, `tcp://127.0.0.1:${port}`)).toContainText('Listening')
})

test('Databases are ordered by keyboard, and an empty list does not mean all databases', async ({
  page,
  gatehouse,
}) => {
  await gatehouse.signIn(page, `${consolePath}/new`)
  await page.getByLabel('Port').fill(String(await gatehouse.freePort()))
  await addDatabases(page, 'blog', 'shop')
  const names = page.getByRole('list', { name: 'Databases in order' }).getByRole('listitem')

  await page.getByRole('button', { name: 'Move shop up' }).focus()
  await page.keyboard.press('Alt+ArrowUp')
  await expect(names).toHaveText([/^shop/, /^blog/])
  await expect(page.getByRole('button', { name: 'Move shop up' })).toBeFocused()
  await expect(page.getByText('The default database shop does not exist.')).toBeVisible()

  await page.keyboard.press('Delete')
  await expect(page.getByRole('button', { name: 'Remove blog' })).toBeFocused()
  await page.keyboard.press('Delete')
  await expect(page.getByRole('combobox', { name: 'Add a database' })).toBeFocused()
  await page.keyboard.press('Control+Enter')
  await expect(page.getByRole('combobox', { name: 'Add a database' })).toHaveAccessibleDescription(
    'Choose at least one database.',
  )
})

test('The last admin endpoint cannot be removed, and the page explains why', async ({
  page,
  gatehouse,
}) => {
  const own = `tcp://127.0.0.1:${gatehouse.port}`
  await gatehouse.signIn(page, consolePath)
  await chooseInMenu(page, own, 'Remove endpoint')
  const refusal = page.getByRole('dialog', { name: `${own} cannot be removed` })
  await expect(refusal).toContainText('Without this endpoint, no one can sign in')
  await expect(refusal.getByRole('button', { name: 'Remove endpoint' })).toBeHidden()
  await page.keyboard.press('Escape')
  await expect(page.getByRole('button', { name: `Actions for ${own}` })).toBeFocused()

  const port = await gatehouse.freePort()
  const address = `tcp://127.0.0.1:${port}`
  await gatehouse.post('/_db/_system/_api/endpoint', { endpoint: address, databases: [] })
  await expect(rowOf(page, address)).toContainText('Listening')
  await chooseInMenu(page, own, 'Remove endpoint')
  const question = page.getByRole('dialog', { name: `Remove ${own}?` })
  await expect(question).toContainText('You are connected through this endpoint.')
  await question.getByRole('link', { name: `Open the console at ${address}` }).click()
  await expect(page).toHaveURL(`http://127.0.0.1:${port}${consolePath}`)
})

test('Changes of others appear without a reload, also during an edit', async ({
  page,
  gatehouse,
}) => {
  const address = `tcp://127.0.0.1:${await gatehouse.freePort()}`
  const others = (databases: string[]) =>
    gatehouse.post('/_db/_system/_api/endpoint', { endpoint: address, databases })
  await gatehouse.signIn(page, consolePath)
  await expect(page.getByText('Live', { exact: true })).toBeVisible()
  await others(['blog', 'archive'])
  await expect(rowOf(page, address)).toContainText('archive')

  await chooseInMenu(page, address, 'Edit mapping')
  const mapping = page.getByRole('dialog', { name: `Mapping of ${address}` })
  await mapping.getByRole('button', { name: 'Remove archive' }).click()
  await others(['blog', 'archive', 'news'])
  const conflict = mapping.getByRole('alert').filter({ hasText: 'Theirs (saved)' })
  await expect(conflict).toContainText('news')
  await page.keyboard.press('Control+Enter')
  await expect(mapping.getByText('Choose “Take theirs” or “Keep mine” first.')).toBeVisible()
  await conflict.getByRole('button', { name: 'Keep mine' }).click()
  await mapping.getByRole('button', { name: 'Save mapping' }).click()
  await expect(mapping).toBeHidden()
  await expect(rowOf(page, address)).not.toContainText('archive')
})

test('Rows are opened and changed by keyboard, and the focus returns', async ({
  page,
  gatehouse,
}) => {
  const address = `tcp://127.0.0.1:${await gatehouse.freePort()}`
  await gatehouse.post('/_db/_system/_api/endpoint', { endpoint: address, databases: ['blog'] })
  await gatehouse.signIn(page, consolePath)
  await rowOf(page, `tcp://127.0.0.1:${gatehouse.port}`).focus()
  await page.keyboard.press('End')
  await page.keyboard.press('Home')
  const first = page.getByRole('row').nth(1)
  await expect(first).toBeFocused()
  await page.keyboard.press('j')
  await expect(page.getByRole('row').nth(2)).toBeFocused()

  await rowOf(page, address).focus()
  await page.keyboard.press('e')
  await expect(page.getByRole('dialog', { name: `Mapping of ${address}` })).toBeVisible()
  await page.keyboard.press('Escape')
  await expect(rowOf(page, address)).toBeFocused()
  await page.keyboard.press('Delete')
  await expect(page.getByRole('button', { name: 'Keep it' })).toBeFocused()
  await page.keyboard.press('Enter')
  await expect(rowOf(page, address)).toBeFocused()
})

test('Rejected requests and a missing database show in the row, which creates the database', async ({
  page,
  gatehouse,
}) => {
  const port = await gatehouse.freePort()
  const address = `tcp://127.0.0.1:${port}`
  await gatehouse.post('/_db/_system/_api/endpoint', { endpoint: address, databases: ['legacy'] })
  for (let n = 0; n < 3; n += 1) {
    expect((await gatehouse.get(`http://127.0.0.1:${port}/articles`)).status).toBe(404)
  }
  await gatehouse.signIn(page, consolePath)
  const row = rowOf(page, address)
  await expect(row).toContainText('100% rejected in the last minute')
  await expect(page.getByRole('columnheader', { name: 'Requests/s' })).toContainText(
    /scale 0–[0-9,]+\/s/,
  )

  await page.goto('/_console/data')
  const missing = page.getByRole('list', { name: 'Missing databases' })
  await expect(missing).toContainText(`legacy does not exist, but is in the mapping of ${address}`)
  await expect(missing.getByRole('button', { name: 'Create “legacy”' })).toBeVisible()
  await page.goto(consolePath)

  await row.focus()
  await row.getByRole('button', { name: 'Create “legacy”' }).press('Enter')
  await expect(page.getByRole('region', { name: 'Last change' })).toContainText(
    'Database legacy created',
  )
  await expect(row.getByRole('button', { name: 'Create “legacy”' })).toBeHidden()
  expect((await gatehouse.get(`http://127.0.0.1:${port}/articles`)).status).toBe(200)
})
