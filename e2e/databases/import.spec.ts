import { Buffer } from 'node:buffer'
import type { Page } from '@playwright/test'
import { expectAccessibleInBothThemes } from '../support/page/expect-accessible.ts'
import { expect, type Gatehouse, test } from '../support/server/gatehouse.ts'

const databasesPath = '/_console/data'
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
  await expect(page).toHaveURL(/\/data\/copy$/)
  await expect(page.getByRole('main')).toContainText('3 documents')
  expect((await exportOf(gatehouse, 'copy')).replace('"copy"', '"blog"')).toBe(exported)
})

test('An import shows its progress, can be cancelled, and asks before its dialog is closed', async ({
  page,
  gatehouse,
}) => {
  await makeBlog(gatehouse)
  const exported = await exportOf(gatehouse, 'blog')
  await gatehouse.post('/_db/_system/_api/database', { name: 'copy' })
  await page.route('**/_import', () => {})
  await gatehouse.signIn(page, `${databasesPath}/copy`)
  const panel = page.getByRole('main')
  await panel.getByRole('button', { name: 'Import' }).click()
  await page.getByRole('menuitem', { name: 'Export of a database' }).click()
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
  // A count of the collections that is in progress may be cancelled too.
  const cancelled = page.waitForEvent('requestfailed', (request) =>
    request.url().includes('/_db/copy/_import'),
  )
  await form.getByRole('button', { name: 'Cancel import and close' }).click()
  await expect(form).toBeHidden()
  await cancelled
  expect(await exportOf(gatehouse, 'copy')).toContain('"documents":0')
})
