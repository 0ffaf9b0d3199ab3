import { Buffer } from 'node:buffer'
import { readFile } from 'node:fs/promises'
import type { Page } from '@playwright/test'
import { expectAccessibleInBothThemes } from '../support/page/expect-accessible.ts'
import { holdRequests } from '../support/page/hold-requests.ts'
import { expect, type Gatehouse, test } from '../support/server/gatehouse.ts'

const databasesPath = '/_console/databases'
const importPath = '/_console/databases/import'
const SCHEMA = { type: 'object', properties: { year: { type: 'integer' } } }

const formOf = (page: Page) => page.getByRole('dialog', { name: 'Import database' })
const targetOf = (page: Page) =>
  formOf(page).getByRole('combobox', { name: 'Import into database' })
const conflictOf = (page: Page) => formOf(page).getByLabel('If a document or schema exists')

/** Creates the database blog with two collections, a schema and an index. */
async function makeBlog(gatehouse: Gatehouse): Promise<void> {
  await gatehouse.post('/_db/_system/_api/database', { name: 'blog' })
  await gatehouse.post('/_db/blog/articles', [{ id: 'one', year: 1 }, { id: 'two' }])
  await gatehouse.put('/_db/blog/_schema/articles', SCHEMA)
  await gatehouse.put('/_db/blog/_index/articles/by-year', { fields: ['-year'] })
  await gatehouse.post('/_db/blog/notes', { id: 'one' })
}

const exportOf = async (gatehouse: Gatehouse, database: string) =>
  String((await gatehouse.get(`/_db/${database}/_export`)).body)

async function chooseFile(page: Page, content: string, name = 'blog.ndjson'): Promise<void> {
  const chooser = page.waitForEvent('filechooser')
  await formOf(page).getByRole('button', { name: 'File', exact: true }).click()
  const buffer = Buffer.from(content)
  await (await chooser).setFiles({ name, mimeType: 'application/x-ndjson', buffer })
}

test('An export of a database is imported into a new database', async ({ page, gatehouse }) => {
  await makeBlog(gatehouse)
  const exported = await exportOf(gatehouse, 'blog')
  await gatehouse.signIn(page, databasesPath)
  await page.getByRole('button', { name: 'Import' }).click()
  const form = formOf(page)
  await expect(form.getByRole('button', { name: 'File', exact: true })).toBeFocused()
  await page.keyboard.press('Control+Enter')
  await expect(form.getByText('Choose the file of an export.')).toBeVisible()
  await expect(targetOf(page)).toHaveAccessibleDescription(/Enter a name/)

  await chooseFile(page, exported)
  const preview = form.getByRole('region', { name: 'Preview' })
  await expect(preview).toContainText('Export of the database blog: 2 collections, 3 documents')
  await expect(preview.getByRole('row')).toHaveText([
    /^CollectionSchemaIndexes/,
    /^articlesYes1/,
    /^notes––/,
  ])
  // The database of the file is suggested, and exists.
  await expect(targetOf(page)).toHaveValue('blog')
  await expect(conflictOf(page)).toBeVisible()
  await targetOf(page).fill('my copy')
  await page.keyboard.press('Control+Enter')
  await expect(targetOf(page)).toHaveAccessibleDescription(/A space is not allowed in a name/)
  await targetOf(page).fill('copy')
  await expect(conflictOf(page)).toBeHidden()
  await expect(form.getByText('copy is created first.')).toBeVisible()
  await expectAccessibleInBothThemes(page)
  await page.keyboard.press('Control+Enter')
  await expect(form.getByText('Documents of 2 collections: 3 created.').first()).toBeVisible()
  await form.getByRole('button', { name: 'Show database' }).click()
  await expect(page).toHaveURL(/\/databases\?open=copy$/)
  await expect(page.getByRole('dialog', { name: 'Database copy' })).toContainText('3 documents')
  expect((await exportOf(gatehouse, 'copy')).replace('"copy"', '"blog"')).toBe(exported)
})

test('An import into a database with documents asks what happens to them', async ({
  page,
  gatehouse,
}) => {
  await makeBlog(gatehouse)
  const exported = (await exportOf(gatehouse, 'blog'))
    .replace('{"id":"two"}', '{"id":"two","year":"unknown"}')
    .replace('{"id":"one"}', '{"id":"one","text":"changed"}')
    .replace('"notes"', '"pages"')
    .replace('"year":1}', '"year":3}')
  await gatehouse.signIn(page, `${databasesPath}?open=blog`)
  const panel = page.getByRole('dialog', { name: 'Database blog' })
  await panel.getByRole('button', { name: 'Import' }).click()
  const form = formOf(page)
  await expect(targetOf(page)).toHaveValue('blog')
  await chooseFile(page, exported)
  await expect(form.getByRole('row', { name: /articles/ })).toContainText('Exists')
  await expect(form.getByRole('row', { name: /pages/ })).toContainText('New')
  await page.keyboard.press('Control+Enter')
  await expect(conflictOf(page)).toBeFocused()
  await expect(conflictOf(page)).toHaveAccessibleDescription(
    /blog contains documents\. Choose what happens to them\./,
  )
  await conflictOf(page).selectOption('Replace what is stored')
  await page.keyboard.press('Control+Enter')
  await expect(
    form.getByText('Documents of 2 collections: 1 created, 1 replaced, 1 failed.').first(),
  ).toBeVisible()
  await expect(form.getByRole('list', { name: 'Errors' }).getByRole('listitem')).toHaveText([
    /^Line 4 \/year: /,
  ])
  const download = page.waitForEvent('download')
  await form.getByRole('button', { name: 'Download errors' }).click()
  expect((await download).suggestedFilename()).toBe('blog-errors.csv')
  const file = await readFile(await (await download).path(), 'utf8')
  expect(file).toMatch(/^line,pointer,message\r\n4,"\/year",/)
  expect((await gatehouse.get('/_db/blog/articles/one')).body).toEqual({ id: 'one', year: 3 })

  // The panel below the dialog has the new collection.
  await form.getByRole('button', { name: 'Close' }).last().click()
  await expect(form).toBeHidden()
  await expect(panel.getByRole('link', { name: 'pages' })).toBeVisible()
  await expect(panel.getByRole('button', { name: 'Import' })).toBeFocused()
})

test('An import shows its progress, can be cancelled, and asks before its dialog is closed', async ({
  page,
  gatehouse,
}) => {
  await makeBlog(gatehouse)
  const exported = await exportOf(gatehouse, 'blog')
  await gatehouse.post('/_db/_system/_api/database', { name: 'copy' })
  await page.route('**/_import', () => {})
  await gatehouse.signIn(page, `${databasesPath}?open=copy`)
  const panel = page.getByRole('dialog', { name: 'Database copy' })
  await panel.getByRole('button', { name: 'Import' }).click()
  const form = formOf(page)
  await chooseFile(page, exported)
  await expect(form.getByRole('region', { name: 'Preview' })).toBeVisible()
  await page.keyboard.press('Control+Enter')
  const cancel = form.getByRole('button', { name: 'Cancel import', exact: true })
  await expect(cancel).toBeFocused()
  await expect(form.getByRole('progressbar', { name: 'Importing documents' })).toBeVisible()
  await page.keyboard.press('Escape')
  await expect(form.getByRole('button', { name: 'Keep importing' })).toBeFocused()
  await page.keyboard.press('Enter')
  await page.goBack()
  await expect(form.getByText('Closing this dialog cancels the import.')).toBeVisible()
  await form.getByRole('button', { name: 'Keep importing' }).click()
  await cancel.click()
  await expect(form.getByText('The import was cancelled.')).toContainText(
    'Documents that are already stored are kept.',
  )
  await page.keyboard.press('Control+Enter')
  await page.keyboard.press('Escape')
  const cancelled = page.waitForEvent('requestfailed')
  await form.getByRole('button', { name: 'Cancel import and close' }).click()
  await expect(form).toBeHidden()
  expect((await cancelled).url()).toContain('/_db/copy/_import')
  expect(await exportOf(gatehouse, 'copy')).toContain('"documents":0')
})

test('An import that is interrupted by a reload says so', async ({ page, gatehouse }) => {
  await gatehouse.post('/_db/_system/_api/database', { name: 'copy' })
  await page.route('**/_import', () => {})
  await gatehouse.signIn(page, `${importPath}?open=copy`)
  await chooseFile(page, '{"gatehouse":1,"database":"x"}\n{"end":{"collections":0,"documents":0}}')
  const requested = page.waitForRequest('**/_import')
  await page.keyboard.press('Control+Enter')
  await requested
  page.once('dialog', (question) => question.accept())
  await page.reload()
  await formOf(page).getByRole('button', { name: 'Restore' }).click()
  await expect(formOf(page).getByText('An import was interrupted.')).toBeVisible()
})

test('A file that is not a complete export is not sent', async ({ page, gatehouse }) => {
  await gatehouse.post('/_db/_system/_api/database', { name: 'copy' })
  let requests = 0
  await page.route('**/_import', (route) => {
    requests++
    return route.continue()
  })
  await gatehouse.signIn(page, `${importPath}?open=copy`)
  const form = formOf(page)
  const file = form.getByRole('button', { name: 'File', exact: true })
  for (const [content, error] of [
    ['{"id":"one"}\n', 'This is not an export of a database.'],
    ['{"gatehouse":1,"database":"blog"}\n', 'The export is incomplete'],
    ['{"gatehouse":2,"database":"blog"}\n', 'The export has version 2 of its format.'],
  ] as const) {
    await chooseFile(page, content)
    await expect(form.getByText(error)).toBeVisible()
    await page.keyboard.press('Control+Enter')
    await expect(file).toBeFocused()
    await expect(form.getByText(error)).toHaveCount(1)
  }
  await form.getByRole('button', { name: 'Remove the file' }).click()
  await expect(form.getByText('The export has version 2')).toBeHidden()
  expect(requests).toBe(0)
})

test('The dialog keeps the focus when the panel below it is loaded later', async ({
  page,
  gatehouse,
}) => {
  await gatehouse.post('/_db/_system/_api/database', { name: 'copy' })
  const held = await holdRequests(page, /\/assets\/database-panel-[^/]*\.js$/)
  await gatehouse.signIn(page, `${importPath}?open=copy`)
  const file = formOf(page).getByRole('button', { name: 'File', exact: true })
  await expect(file).toBeFocused()
  await held.requested
  held.release()
  await expect(page.getByRole('dialog', { name: 'copy' })).toBeAttached()
  await expect(file).toBeFocused()
})

test('A failed import says what is stored and what to do', async ({
  page,
  gatehouse,
  browserErrors,
}) => {
  browserErrors.allow(/^http 4\d\d POST .*\/_import/)
  browserErrors.allow(/^http 404 GET .*\/_api\/collection\?database=copy$/)
  browserErrors.allow(/^request failed POST .*\/_import/)
  await makeBlog(gatehouse)
  const exported = await exportOf(gatehouse, 'blog')
  await gatehouse.post('/_db/_system/_api/database', { name: 'copy' })
  await gatehouse.signIn(page, `${importPath}?open=copy`)
  const form = formOf(page)
  const start = form.getByRole('button', { name: 'Import database' })

  // The server finds what the beginning and the end of the file do not show.
  await chooseFile(page, exported.replace('{"document"', '{"doc"'))
  await start.click()
  await expect(form.getByText('Line 3 is not part of an export of a database.')).toContainText(
    'Nothing was imported.',
  )

  await chooseFile(page, exported)
  await page.route('**/_import', (route) => route.abort('internetdisconnected'))
  await start.click()
  await expect(form.getByText('Gatehouse did not respond.')).toContainText(
    'To continue, import again and keep or replace stored documents.',
  )
  await page.unroute('**/_import')

  await page.route('**/_import', (route) =>
    route.fulfill({
      status: 403,
      json: { id: 'forbidden', message: 'This needs the role operator.' },
    }),
  )
  await start.click()
  await expect(form.getByText('This needs the role operator.')).toBeVisible()
  await page.unroute('**/_import')

  // Another person stores a document after the collections were listed.
  await gatehouse.post('/_db/copy/notes', { id: 'theirs' })
  await start.click()
  await expect(conflictOf(page)).toHaveAccessibleDescription(/copy contains documents/)
  await conflictOf(page).selectOption('Keep what is stored')

  // Another person drops the database before its list is updated.
  const held = await holdRequests(page, '**/_import*')
  await start.click()
  await held.requested
  await gatehouse.delete('/_db/_system/_api/database/copy')
  held.release()
  await expect(form.getByText('There is no database copy')).toContainText(
    'Another person may have dropped it.',
  )
  await expect(form.getByText('copy is created first.')).toBeVisible()
  await start.click()
  await expect(form.getByText('Documents of 2 collections: 3 created.').first()).toBeVisible()
})

test('A database that the own endpoint does not serve is not imported', async ({
  page,
  gatehouse,
}) => {
  await gatehouse.post('/_db/_system/_api/database', { name: 'copy' })
  const endpoint = `tcp://127.0.0.1:${gatehouse.port}`
  await page.route('**/_api/endpoint', (route) =>
    route.fulfill({ json: [{ endpoint, databases: ['_system'] }] }),
  )
  await gatehouse.signIn(page, `${importPath}?open=copy`)
  const reason = /The endpoint that you are connected through does not serve this database/
  await expect(targetOf(page)).toHaveAccessibleDescription(reason)
  await chooseFile(page, '{"gatehouse":1,"database":"x"}\n{"end":{"collections":0,"documents":0}}')
  await page.keyboard.press('Control+Enter')
  await expect(targetOf(page)).toBeFocused()
  await targetOf(page).fill('_system')
  await expect(targetOf(page)).not.toHaveAccessibleDescription(reason)
})
