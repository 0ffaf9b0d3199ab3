import { readFile } from 'node:fs/promises'
import type { Locator, Page } from '@playwright/test'
import { expect, type Gatehouse, test } from '../support/server/gatehouse.ts'

const databasesPath = '/_console/data'

const create = (gatehouse: Gatehouse, name: string) =>
  gatehouse.post('/_db/_system/_api/database', { name })

const dialogOf = (page: Page, title: string) => page.getByRole('dialog', { name: title })

const createButton = (page: Page) => page.getByRole('button', { name: 'Create database' })

const railOf = (page: Page) => page.getByRole('navigation', { name: 'Databases' })

const rowOf = (page: Page, name: string) =>
  page.getByRole('row').filter({ has: page.getByRole('rowheader', { name, exact: true }) })

/** Creates the database blog with two collections, and an endpoint whose default it is. */
async function makeBlog(gatehouse: Gatehouse): Promise<string> {
  await create(gatehouse, 'blog')
  await gatehouse.post('/_db/blog/articles', [{ id: 'one', title: 'One' }, { id: 'two' }])
  await gatehouse.post('/_db/blog/notes', { id: 'one' })
  const endpoint = `tcp://127.0.0.1:${await gatehouse.freePort()}`
  await gatehouse.post('/_db/_system/_api/endpoint', { endpoint, databases: ['blog'] })
  return endpoint
}

test('A database is created, and its name is validated while it is typed', async ({
  page,
  gatehouse,
}) => {
  await gatehouse.signIn(page, '/_console/endpoints')
  await page.getByRole('navigation', { name: 'Main' }).getByText('Data', { exact: true }).click()
  await expect(page.getByText('So far there is only _system')).toBeVisible()

  await createButton(page).click()
  const form = dialogOf(page, 'Create database')
  const name = form.getByLabel('Name')
  await expect(name).toBeFocused()
  await page.keyboard.press('Control+Enter')
  await expect(name).toHaveAccessibleDescription(/Enter a name/)
  await page.keyboard.type('my shop')
  await expect(name).toHaveAccessibleDescription(/A space is not allowed in a name/)
  await name.fill('_system')
  await expect(name).toHaveAccessibleDescription(/The database _system already exists/)
  await name.fill('shop')
  // Typed text survives a reload. The form offers it, and Escape and Cancel discard it.
  await page.reload()
  const offer = form.getByText('You have unsaved input from')
  await expect(offer).toBeVisible()
  await form.getByRole('button', { name: 'Discard' }).click()
  await expect(offer).toBeHidden()
  await expect(name).toHaveValue('')
  for (const close of [
    () => page.keyboard.press('Escape'),
    () => form.getByRole('button', { name: 'Cancel' }).click(),
    () => page.goBack(),
  ]) {
    await name.fill('shop')
    await close()
    await expect(form).toBeHidden()
    await createButton(page).click()
    await expect(name).toHaveValue('')
    await expect(offer).toBeHidden()
  }
  await name.fill('shop')
  await expect(form.getByRole('status')).toHaveText(
    'It is served immediately by 1 endpoint that serves all databases.',
  )
  await page.keyboard.press('Enter')
  await expect(page).toHaveURL(/\/data\/shop$/)
  await expect(page.getByRole('main')).toContainText('0 documents, 0 B')
  await expect(form).toBeHidden()
  await expect(railOf(page).getByRole('link', { name: 'shop' })).toHaveAttribute(
    'aria-current',
    'page',
  )
  expect((await gatehouse.get('/_db/_system/_api/database')).body).toContainEqual({ name: 'shop' })
})

test('A database shows its collections and endpoints, and opens an endpoint', async ({
  page,
  gatehouse,
}) => {
  const endpoint = await makeBlog(gatehouse)
  await gatehouse.signIn(page, databasesPath)
  const row = rowOf(page, 'blog')
  await page.getByRole('button', { name: 'Documents', exact: true }).click()
  await expect(page).toHaveURL(/\?sort=-documents$/)
  await expect(page.getByRole('rowheader').first()).toHaveText('blog')
  await page.getByRole('button', { name: 'Name', exact: true }).click()
  await expect(page.getByRole('rowheader').first()).toHaveText('_system')
  await expect(row.getByRole('cell').nth(0)).toHaveText('2')
  await expect(row.getByRole('cell').nth(1)).toHaveText('3')
  await expect(row.getByRole('cell').nth(3)).toHaveText('2, default of 1')
  await row.getByRole('link', { name: 'blog' }).click()
  await expect(page.getByRole('main')).toContainText('3 documents')
  const collections = page.getByRole('table', { name: 'Collections' })
  await expect(collections.getByRole('row').nth(1)).toHaveText(/^articles2\d\d B$/)
  const endpoints = page.getByRole('region', { name: 'Endpoints that serve it' })
  await expect(endpoints.getByRole('listitem').first()).toContainText(`${endpoint}default`)
  await collections.getByRole('link', { name: 'articles' }).click()
  await expect(page).toHaveURL(/\/data\/blog\/articles$/)
  await page.goBack()
  await page.getByRole('link', { name: 'Open an endpoint' }).click()
  const form = dialogOf(page, 'Add endpoint')
  await expect(form.getByText(/go to blog\./)).toBeVisible()
})

test('The rail lists databases and collections with their counts, filters them, and can be hidden', async ({
  page,
  gatehouse,
}) => {
  await makeBlog(gatehouse)
  await create(gatehouse, 'shop')
  await gatehouse.signIn(page, '/_console/data/blog/articles')
  // A path of an earlier version.
  await expect(page).toHaveURL(/\/data\/blog\/articles$/)
  const rail = railOf(page)
  const articles = rail.getByRole('listitem').filter({ hasText: /^articles2$/ })
  await expect(articles.getByRole('link')).toHaveAttribute('aria-current', 'page')
  await rail.getByRole('button', { name: 'Collections of blog' }).click()
  await expect(articles).toBeHidden()
  await rail.getByRole('button', { name: 'Collections of blog' }).click()
  await rail.getByRole('searchbox').fill('note')
  await expect(rail.getByRole('link')).toHaveText(['blog', 'notes'])
  await rail.getByRole('link', { name: 'notes' }).click()
  await expect(page).toHaveURL(/\/data\/blog\/notes\?q=note$/)
  await page.keyboard.press('Escape')
  await rail.getByRole('searchbox').fill('')
  await rail.getByRole('button', { name: 'Hide the databases' }).click()
  await page.reload()
  await expect(page.getByRole('rowheader', { name: 'one' })).toBeVisible()
  await expect(rail).toBeHidden()
  await page.getByRole('button', { name: 'Show the databases' }).click()
  await expect(rail.getByRole('link', { name: 'shop' })).toBeVisible()
})

test('A database is downloaded from its page, and before it is dropped', async ({
  page,
  gatehouse,
}) => {
  await makeBlog(gatehouse)
  await gatehouse.signIn(page, `${databasesPath}/blog`)
  const downloaded = async (link: Locator) => {
    const download = page.waitForEvent('download')
    await link.click()
    expect((await download).suggestedFilename()).toBe('blog.ndjson')
    return readFile(await (await download).path(), 'utf8')
  }
  const file = await downloaded(page.getByRole('link', { name: 'Export', exact: true }))
  expect(file).toContain('"end":{"collections":2,"documents":3}')
  await page.getByRole('button', { name: 'Drop database' }).click()
  const question = dialogOf(page, 'Drop database blog?')
  expect(await downloaded(question.getByRole('link', { name: 'Export it first' }))).toBe(file)
})

test('A database is dropped after its name is typed, and the dialog states what is lost', async ({
  page,
  gatehouse,
  browserErrors,
}) => {
  // The page may request the collections of the dropped database.
  browserErrors.allow(/^http 404 GET .*\/_api\/collection\?database=blog$/)
  const endpoint = await makeBlog(gatehouse)
  await gatehouse.signIn(page, `${databasesPath}/_system`)
  const opener = page.getByRole('button', { name: 'Drop database' })
  await expect(opener).toHaveAttribute('aria-disabled', 'true')
  await opener.focus()
  await expect(page.getByRole('tooltip')).toHaveText(/contains the administration/)
  await railOf(page).getByRole('link', { name: 'blog' }).click()
  await expect(opener).not.toHaveAttribute('aria-disabled')
  await opener.click()
  const question = dialogOf(page, 'Drop database blog?')
  await question.getByRole('button', { name: 'Keep it' }).click()
  await expect(opener).toBeFocused()
  await opener.click()
  await expect(question).toContainText('Its 3 documents in 2 collections')
  await expect(question.getByText(endpoint, { exact: true })).toHaveClass('mono')
  await expect(question).toContainText('It is the default there.')
  const field = question.getByLabel('Type blog to drop it')
  await expect(field).toBeFocused()
  await page.keyboard.type('Blog')
  await question.getByRole('button', { name: 'Drop database' }).click()
  await expect(field).toHaveAccessibleDescription('Type blog exactly as shown to drop it.')
  await expect(field).toBeFocused()
  expect((await gatehouse.get('/_db/blog/articles/one')).status).toBe(200)

  await field.fill('blog')
  await page.keyboard.press('Enter')
  await expect(question).toBeHidden()
  await expect(page).toHaveURL(/\/data$/)
  await expect(rowOf(page, 'blog')).toHaveCount(0)
  expect((await gatehouse.get('/_db/blog/articles/one')).status).toBe(404)
})

test('Databases that others create and drop appear without a reload, also on an open page', async ({
  page,
  gatehouse,
  browserErrors,
}) => {
  // The open page may request the collections of the dropped database.
  browserErrors.allow(/^http 404 GET .*\/_api\/collection\?database=shop$/)
  await gatehouse.signIn(page, databasesPath)
  await expect(rowOf(page, '_system')).toBeVisible()
  await create(gatehouse, 'shop')
  await rowOf(page, 'shop').getByRole('link').click()
  await expect(page.getByRole('main')).toContainText('0 documents')
  await gatehouse.delete('/_db/_system/_api/database/shop')
  await expect(page.getByText('There is no database shop.')).toBeVisible()
  await page.getByRole('link', { name: 'Choose another database' }).click()
  await expect(rowOf(page, '_system')).toBeVisible()
})

test('A failed load shows an error and can be retried', async ({
  page,
  gatehouse,
  browserErrors,
}) => {
  browserErrors.allow(/^http 503 GET /)
  await page.route('**/_api/database', (route) =>
    route.fulfill({
      status: 503,
      json: { error: true, code: 503, errorNum: 503, errorMessage: 'The database is unavailable.' },
    }),
  )
  await gatehouse.signIn(page, databasesPath)
  await expect(
    page.getByText('The databases could not be loaded. The database is unavailable.'),
  ).toBeVisible()
  await page.unroute('**/_api/database')
  await page.getByRole('button', { name: 'Try again' }).click()
  await expect(rowOf(page, '_system')).toBeVisible()
})
