import { readFile } from 'node:fs/promises'
import type { Page } from '@playwright/test'
import { expectAccessibleInBothThemes } from './support/expect-accessible.ts'
import { expect, type Gatehouse, test } from './support/gatehouse.ts'

const articlesPath = '/_console/documents/blog/articles'

const textOf = (page: Page) => page.getByRole('textbox', { name: 'Document as JSON' })

const dialogOf = (page: Page, title: string) =>
  page.getByRole('dialog', { name: title, exact: true })

/** Creates the database blog with these documents in its collection articles. */
async function makeBlog(gatehouse: Gatehouse, documents: readonly object[] = []): Promise<void> {
  await gatehouse.post('/_db/_system/_api/database', { name: 'blog' })
  if (documents.length > 0) await gatehouse.post('/_db/blog/articles', documents)
}

/** Changes a document with the API, as another program would. */
const replaceOutside = (gatehouse: Gatehouse, id: string, fields: object) =>
  gatehouse
    .delete(`/_db/blog/articles/${id}`)
    .then(() => gatehouse.post('/_db/blog/articles', { id, ...fields }))

test('The first document of a database is created and can be read through its endpoint', async ({
  page,
  gatehouse,
  browserErrors,
}) => {
  browserErrors.allow(/^http 422 POST .*\/_db\/blog\/articles$/)
  await makeBlog(gatehouse)
  await gatehouse.signIn(page, '/_console/endpoints')
  await page.getByRole('link', { name: 'Documents' }).click()
  await page.getByRole('link', { name: 'blog', exact: true }).click()
  await expect(page.getByText('blog contains no documents.')).toBeVisible()

  await page.getByRole('button', { name: 'Create the first document' }).click()
  const form = dialogOf(page, 'Create document')
  await expect(form.getByLabel('Collection')).toBeFocused()
  await form.getByLabel('Collection').fill('Articles')
  await textOf(page).fill('{\n  "title": "One"\n  "author": "ada"\n}')
  await page.keyboard.press('Control+Enter')
  await expect(form.getByLabel('Collection')).toHaveAccessibleDescription(
    /begins with a lowercase letter/,
  )
  await expect(textOf(page)).toHaveAccessibleDescription(/^Invalid JSON at line 3, column 3\./)

  await form.getByLabel('Collection').fill('articles')
  await textOf(page).fill('{ "id": "one", "title": "One", "title": "Two" }')
  await page.keyboard.press('Control+Enter')
  await expect(textOf(page)).toHaveAccessibleDescription(/^The key "title" occurs twice\./)
  await expect(textOf(page)).toBeFocused()

  await textOf(page).fill('{ "id": "one", "title": "One", "author": "ada" }')
  await page.keyboard.press('Control+Enter')
  await expect(dialogOf(page, 'Document one')).toContainText('"author": "ada"')
  const row = page.getByRole('row').filter({ hasText: 'one' })
  await expect(row.getByRole('cell', { name: 'ada' })).toBeVisible()
  await page.keyboard.press('Escape')
  await expect(page).toHaveURL(/\/documents\/blog\/articles$/)
  await expect(row.getByRole('link')).toBeFocused()

  const port = await gatehouse.freePort()
  const endpoint = `tcp://127.0.0.1:${port}`
  await gatehouse.post('/_db/_system/_api/endpoint', { endpoint, databases: ['blog'] })
  expect(await gatehouse.get(`http://127.0.0.1:${port}/articles/one`)).toMatchObject({
    status: 200,
    body: { id: 'one', title: 'One', author: 'ada' },
  })
})

test('Each schema violation is shown with its position in the document', async ({
  page,
  gatehouse,
  browserErrors,
}) => {
  browserErrors.allow(/^http 422 POST /)
  await makeBlog(gatehouse, [{ id: 'one', title: 'One' }])
  await gatehouse.signIn(page, `${articlesPath}?create=1`)
  await page.evaluate(async () => {
    const schema = { properties: { title: { type: 'string' }, tags: { items: { minLength: 2 } } } }
    await fetch('/_db/blog/_schema/articles', {
      method: 'PUT',
      headers: { 'X-Gatehouse': '1', 'Content-Type': 'application/json' },
      body: JSON.stringify(schema),
    })
  })
  await textOf(page).fill('{\n  "title": 2,\n  "tags": [\n    "ab",\n    "c"\n  ]\n}')
  await page.keyboard.press('Control+Enter')
  await expect(textOf(page)).toBeFocused()
  const violations = page.getByRole('alert').getByRole('listitem')
  await expect(violations).toHaveCount(2)
  await expect(violations.filter({ hasText: '/title' })).toContainText(/^Line 2 .*string/)
  const marked = page.locator('.cm-lintRange-error')
  await expect(marked).toHaveText(['2', '"c"'])
  await violations.filter({ hasText: '/tags/1' }).getByRole('button', { name: 'Line 5' }).click()
  await expect(textOf(page)).toBeFocused()
  await page.keyboard.press('End')
  await page.keyboard.type('x')
  // The editor no longer contains the text that was sent.
  await expect(violations).toHaveCount(0)
  await expect(marked).toHaveCount(0)
})

test('A document is edited by keyboard, and Esc and Tab leave the editor without losing text', async ({
  page,
  gatehouse,
}) => {
  await makeBlog(gatehouse, [{ id: 'one', title: 'One' }])
  await gatehouse.signIn(page, `${articlesPath}?create=1`)
  await expect(textOf(page)).toBeFocused()
  await expect(textOf(page)).toHaveAccessibleDescription(/Press Tab or Esc to leave the editor/)
  await page.keyboard.press('Control+A')
  await page.keyboard.type('{"id": "two",')
  await page.keyboard.press('Enter')
  await page.keyboard.type('"title": "Two"}')
  await page.keyboard.press('Escape')
  const form = dialogOf(page, 'Create document in articles')
  await expect(form.getByRole('button', { name: 'Cancel' })).toBeFocused()
  await page.keyboard.press('Shift+Tab')
  await expect(textOf(page)).toBeFocused()
  await page.keyboard.press('Tab')
  await expect(form.getByRole('button', { name: 'Cancel' })).toBeFocused()
  await page.keyboard.press('Shift+Tab')
  await page.keyboard.press('Control+Enter')
  await expect(dialogOf(page, 'Document two')).toContainText('"title": "Two"')
  expect((await gatehouse.get('/_db/blog/articles/two')).body).toEqual({ id: 'two', title: 'Two' })
})

test('A document that someone else changed is shown beside the edited one', async ({
  page,
  gatehouse,
  browserErrors,
}) => {
  browserErrors.allow(/^http 412 PUT .*\/_db\/blog\/articles\/one$/)
  await makeBlog(gatehouse, [{ id: 'one', title: 'One' }])
  await gatehouse.signIn(page, articlesPath)
  await page.getByRole('link', { name: 'one' }).click()
  await dialogOf(page, 'Document one').getByRole('button', { name: 'Edit document' }).click()
  await expect(textOf(page)).toContainText('"title": "One"')
  await expect(textOf(page)).toBeFocused()

  await replaceOutside(gatehouse, 'one', { title: 'Theirs' })
  await textOf(page).fill('{ "title": "Mine" }')
  await page.keyboard.press('Control+Enter')
  const conflict = page.getByRole('alert').filter({ hasText: 'Someone changed this document' })
  await expect(conflict.getByRole('region', { name: 'Theirs' })).toContainText('"Theirs"')
  await expect(conflict.getByRole('region', { name: 'Yours' })).toContainText('"Mine"')
  await expectAccessibleInBothThemes(page)
  expect(await gatehouse.get('/_db/blog/articles/one')).toMatchObject({ body: { title: 'Theirs' } })

  await conflict.getByRole('button', { name: 'Keep mine' }).click()
  await expect(textOf(page)).toBeFocused()
  await page.keyboard.press('Control+Enter')
  await expect(dialogOf(page, 'Document one')).toContainText('"title": "Mine"')
  await page.keyboard.press('Escape')
  await expect(page.getByRole('row').filter({ hasText: 'one' })).toContainText('Mine')
  expect((await gatehouse.get('/_db/blog/articles/one')).body).toEqual({ id: 'one', title: 'Mine' })
})

test('A document that someone else deleted can be created again', async ({
  page,
  gatehouse,
  browserErrors,
}) => {
  browserErrors.allow(/^http 4(04|12) (GET|PUT) .*\/_db\/blog\/articles\/one$/)
  await makeBlog(gatehouse, [{ id: 'one', title: 'One' }])
  await gatehouse.signIn(page, `${articlesPath}?edit=one`)
  await textOf(page).fill('{ "title": "Mine" }')
  await gatehouse.delete('/_db/blog/articles/one')
  await page.keyboard.press('Control+Enter')
  await expect(page.getByText('Someone deleted this document.')).toBeVisible()
  await page.getByRole('button', { name: 'Create it again' }).click()
  await expect(dialogOf(page, 'Document one')).toContainText('"title": "Mine"')
})

test('Documents are paged, filtered and deleted after a confirmation', async ({
  page,
  gatehouse,
}) => {
  const many = Array.from({ length: 60 }, (_, at) => ({
    id: `d${String(at).padStart(2, '0')}`,
    title: `Number ${at}`,
    author: at === 55 ? 'ada' : 'grace',
    pages: at,
  }))
  await makeBlog(gatehouse, many)
  await gatehouse.signIn(page, articlesPath)
  const ids = page.getByRole('rowheader')
  await expect(ids).toHaveCount(50)
  await page.getByRole('button', { name: 'Next' }).click()
  await expect(ids).toHaveCount(10)
  await expect(ids.first()).toHaveText('d50')
  await page.reload()
  await expect(ids.first()).toHaveText('d50')
  await page.getByRole('button', { name: 'First page' }).click()
  await expect(ids).toHaveCount(50)

  await page.keyboard.press('/')
  const form = page.getByRole('form', { name: 'New filter' })
  await expect(form.getByRole('combobox', { name: 'Field' })).toBeFocused()
  await page.keyboard.press('Enter')
  await expect(form.getByRole('combobox', { name: 'Field' })).toHaveAccessibleDescription(
    /Choose or enter a field/,
  )
  await page.keyboard.type('aut')
  await page.getByRole('option', { name: 'author' }).click()
  const value = form.getByRole('combobox', { name: 'Value' })
  await value.fill('a')
  await page.getByRole('option', { name: 'ada' }).click()
  await page.keyboard.press('Enter')
  await expect(ids).toHaveText(['d55'])
  await expect(page).toHaveURL(/filter=author%3Dada/)
  await expect(page.getByText('GET /_db/blog/articles?author=ada')).toBeVisible()
  await expect(page.getByRole('button', { name: 'Add filter' })).toBeFocused()

  await page.getByRole('link', { name: 'd55' }).click()
  await dialogOf(page, 'Document d55').getByRole('button', { name: 'Delete document' }).click()
  const question = dialogOf(page, 'Delete document d55?')
  await expect(question.getByRole('button', { name: 'Keep it' })).toBeFocused()
  await expect(question).toContainText('"title": "Number 55"')
  await question.getByRole('button', { name: 'Delete document' }).click()
  await expect(question).toBeHidden()
  await expect(page.getByText('No document of articles matches.')).toBeVisible()
  await page.getByRole('button', { name: 'Clear filters' }).last().click()
  await expect(ids).toHaveCount(50)
  expect((await gatehouse.get('/_db/blog/articles/d55')).status).toBe(404)
})

test('A table is sorted, its columns are chosen and resized, and the browser remembers them', async ({
  page,
  gatehouse,
}) => {
  const many = Array.from({ length: 60 }, (_, at) => ({
    id: `d${String(at).padStart(2, '0')}`,
    author: { name: at % 2 ? 'ada' : 'grace' },
    pages: at % 7,
  }))
  await makeBlog(gatehouse, many)
  await gatehouse.signIn(page, articlesPath)
  const ids = page.getByRole('rowheader')
  const head = (name: string) => page.getByRole('columnheader', { name, exact: true })
  await head('pages').getByRole('button').click()
  await expect(ids.first()).toHaveText('d00')
  await expect(ids.nth(1)).toHaveText('d07')
  await head('pages').getByRole('button').click()
  await expect(ids.first()).toHaveText('d06')
  await expect(head('pages')).toHaveAttribute('aria-sort', 'descending')
  await head('Id')
    .getByRole('button')
    .click({ modifiers: ['Shift'] })
  await head('Id')
    .getByRole('button')
    .click({ modifiers: ['Shift'] })
  await expect(ids.first()).toHaveText('d55')
  await page.getByRole('button', { name: 'Next' }).click()
  await expect(ids).toHaveCount(10)
  await page.reload()
  await expect(ids.last()).toHaveText('d00')
  await expect(page).toHaveURL(/sort=-pages%2C-id&cursor=/)
  await page.getByRole('button', { name: 'First page' }).click()
  await expect(ids.first()).toHaveText('d55')

  await page.getByRole('button', { name: 'Columns' }).click()
  await page.getByRole('menuitemcheckbox', { name: 'author', exact: true }).click()
  await page.getByRole('menuitemcheckbox', { name: 'author.name' }).click()
  await page.keyboard.press('Escape')
  await expect(head('author')).toHaveCount(0)
  const edge = page.getByRole('separator', { name: 'Width of author.name' })
  await edge.focus()
  await page.keyboard.press('ArrowRight')
  await expect(edge).toHaveAttribute('aria-valuenow', '176')
  await page.goto(articlesPath)
  await expect(edge).toHaveAttribute('aria-valuenow', '176')
  await expect(page.getByRole('cell', { name: 'grace' }).first()).toBeVisible()
  await expectAccessibleInBothThemes(page)
})

test('A filter that the server rejects is reported at the filter, and corrected as text', async ({
  page,
  gatehouse,
  browserErrors,
}) => {
  browserErrors.allow(/^http 400 GET .*\/_db\/blog\/articles/)
  await makeBlog(gatehouse, [{ id: 'one', year: 2001 }])
  await gatehouse.signIn(page, `${articlesPath}?filter=year:above%3D2000`)
  const chip = page.getByRole('button', { name: 'Edit the filter year:above=2000' })
  await expect(chip).toHaveAccessibleDescription(/"above" is not an operator/)
  await page.getByRole('button', { name: 'Edit as text' }).click()
  const text = page.getByRole('textbox', { name: 'Filter' })
  await text.fill('year')
  await page.keyboard.press('Enter')
  await expect(text).toHaveAccessibleDescription(/author=ada/)
  await text.fill('year:gt=2000')
  await page.keyboard.press('Enter')
  await expect(page.getByRole('rowheader')).toHaveText(['one'])
  await page.getByRole('button', { name: 'Remove the filter year is greater than 2000' }).click()
  await expect(page).toHaveURL(/\/articles$/)
})

test('A slow query says what it read, and is served by the index that it asks for', async ({
  page,
  gatehouse,
  browserErrors,
}) => {
  browserErrors.allow(/^http 422 GET .*\/_db\/blog\/articles/)
  const many = Array.from({ length: 1_200 }, (_, at) => ({
    id: `d${at}`,
    author: at % 400 === 0 ? 'ada' : 'grace',
  }))
  await makeBlog(gatehouse, many)
  const tooExpensive = { id: 'query_too_expensive', message: 'Too slow.', fields: ['author'] }
  await page.route(/\/_db\/blog\/articles\?/, (route) =>
    route.fulfill({ status: 422, json: tooExpensive }),
  )
  await gatehouse.signIn(page, `${articlesPath}?filter=author%3Dada`)
  await expect(page.getByRole('alert').filter({ hasText: 'Too slow.' })).toContainText(
    'Create an index on author.',
  )
  await page.unroute(/\/_db\/blog\/articles\?/)
  await page.reload()
  await expect(page.getByText('Scanned 1,200 documents.')).toBeVisible()
  await page.getByRole('button', { name: 'Count documents' }).click()
  await expect(page.getByText('3 documents match.')).toBeVisible()
  await expect(page).toHaveURL(/count=1/)
  await page.getByRole('button', { name: 'Create index' }).click()
  await expect(page.getByText('Read 3 documents by the index by-author.')).toBeVisible()
  await expect(page.getByRole('rowheader')).toHaveText(['d0', 'd400', 'd800'])
})

test('Indexes are created and deleted, and a failed one lists the documents that prevent it', async ({
  page,
  gatehouse,
}) => {
  await makeBlog(gatehouse, [
    { id: 'one', author: 'ada', year: 1 },
    { id: 'two', author: 'ada', year: 2 },
  ])
  await gatehouse.signIn(page, articlesPath)
  await page.getByRole('link', { name: 'Indexes' }).click()
  await expect(page.getByText('No index yet.')).toBeVisible()
  await page.getByRole('button', { name: 'Create index' }).click()
  const form = dialogOf(page, 'Create index of articles')
  const first = form.getByRole('combobox', { name: 'Field 1', exact: true })
  await expect(first).toBeFocused()
  await page.keyboard.press('Control+Enter')
  await expect(first).toBeFocused()
  await expect(first).toHaveAccessibleDescription(/Choose or enter a field/)
  await first.fill('author')
  await form.getByRole('checkbox', { name: 'Unique' }).check()
  await page.keyboard.press('Control+Enter')
  const row = page.getByRole('row').filter({ hasText: 'by-author' })
  await expect(row).toContainText('Failed')
  const duplicates = page.getByRole('list', { name: 'Documents with the same values' })
  await expect(duplicates.getByRole('link')).toHaveText(['one', 'two'])
  await row.getByRole('button', { name: 'Delete by-author' }).click()
  const question = dialogOf(page, 'Delete index by-author?')
  await question.getByRole('button', { name: 'Delete index' }).click()
  await expect(page.getByText('No index yet.')).toBeVisible()

  await page.getByRole('button', { name: 'Create index' }).click()
  await first.fill('ye')
  await page.getByRole('option', { name: 'year' }).click()
  await form.getByRole('combobox', { name: 'Order of field 1' }).selectOption('Descending')
  await form.getByRole('button', { name: 'Add field' }).click()
  await form.getByRole('combobox', { name: 'Field 2', exact: true }).fill('author')
  await page.keyboard.press('Control+Enter')
  await expect(page.getByRole('row').filter({ hasText: 'by-year-author' })).toContainText('Ready')
  expect((await gatehouse.get('/_db/blog/_index/articles')).body).toMatchObject([
    { name: 'by-year-author', fields: ['-year', 'author'], state: 'ready' },
  ])
})

test('Selected documents are changed with a preview and deleted, and both can be undone', async ({
  page,
  gatehouse,
  browserErrors,
}) => {
  browserErrors.allow(/^http 412 PATCH .*\/_db\/blog\/articles\/d2$/)
  await makeBlog(
    gatehouse,
    Array.from({ length: 60 }, (_, at) => ({ id: `d${at}`, author: { name: 'ada' }, n: at })),
  )
  await gatehouse.signIn(page, `${articlesPath}?sort=n`)
  const select = (id: string) => page.getByRole('checkbox', { name: `Select ${id}`, exact: true })
  const bar = page.getByRole('region', { name: 'Selected documents' })
  const last = page.getByRole('region', { name: 'Last change' })
  await select('d1').check()
  await select('d3').click({ modifiers: ['Shift'] })
  await expect(bar).toContainText('3 selected')
  await bar.getByRole('button', { name: 'Edit' }).click()
  const form = dialogOf(page, 'Edit 3 documents')
  const patch = form.getByRole('textbox', { name: 'Changes as JSON' })
  await patch.fill('{ "author": { "born": 1815 }, "n": null }')
  await expect(form.getByText('3 of 3 documents will change.')).toBeVisible()
  await expect(form.getByRole('region', { name: 'd1 after the change' })).toContainText('1815')
  await expectAccessibleInBothThemes(page)
  await replaceOutside(gatehouse, 'd2', { n: 'theirs' })
  await page.keyboard.press('Control+Enter')
  await expect(last).toContainText('2 documents were changed. 1 document could not be changed.')
  await expect(last).toContainText('d2 Someone changed it.')
  await expect(bar).toContainText('1 selected')
  const read = async (id: string) => (await gatehouse.get(`/_db/blog/articles/${id}`)).body
  expect(await read('d1')).toEqual({ id: 'd1', author: { name: 'ada', born: 1815 } })
  expect(await read('d2')).toEqual({ id: 'd2', n: 'theirs' })
  await last.getByRole('button', { name: 'Undo' }).click()
  await expect(last).toBeHidden()
  expect(await read('d3')).toEqual({ id: 'd3', author: { name: 'ada' }, n: 3 })

  await select('d0').check()
  await bar.getByRole('button', { name: 'Delete' }).click()
  const question = dialogOf(page, 'Delete 2 documents?')
  await expect(question).toContainText('"theirs"')
  await question.getByRole('button', { name: 'Delete documents' }).click()
  await expect(last).toContainText('2 documents were deleted.')
  expect(await read('d2')).toMatchObject({ id: 'not_found' })
  await last.getByRole('button', { name: 'Undo' }).click()
  await expect(last).toBeHidden()
  expect(await read('d2')).toEqual({ id: 'd2', n: 'theirs' })

  await page.getByRole('checkbox', { name: 'Select all documents of this page' }).check()
  await bar.getByRole('button', { name: 'Select all that match' }).click()
  await bar.getByRole('button', { name: 'Edit' }).click()
  await page.getByRole('textbox', { name: 'Changes as JSON' }).fill('{ "seen": true }')
  await page.keyboard.press('Control+Enter')
  await expect(dialogOf(page, 'Changing documents')).toContainText('60 documents of articles')
  expect(await read('d59')).toMatchObject({ seen: true })
})

test('The documents that match are exported, and their request is copied', async ({
  page,
  context,
  gatehouse,
}) => {
  await makeBlog(gatehouse, [
    { id: 'one', author: 'ada', year: 1 },
    { id: 'two', author: 'grace', year: 2 },
    { id: 'three', author: 'ada', year: 3 },
  ])
  await context.grantPermissions(['clipboard-read', 'clipboard-write'])
  await gatehouse.signIn(page, `${articlesPath}?filter=author%3Dada&sort=-year`)
  const menu = page.getByRole('button', { name: 'Export' })
  const exported = async (format: string) => {
    const download = page.waitForEvent('download')
    await menu.click()
    await page.getByRole('menuitem', { name: format, exact: true }).click()
    const file = await download
    return [file.suggestedFilename(), await readFile(await file.path(), 'utf8')]
  }
  const [three, one] = [
    '{"id":"three","author":"ada","year":3}',
    '{"id":"one","author":"ada","year":1}',
  ]
  expect(await exported('NDJSON')).toEqual(['articles.ndjson', `${three}\n${one}\n`])
  expect(await exported('JSON array')).toEqual(['articles.json', `[\n${three},\n${one}\n]\n`])
  expect(await exported('CSV')).toEqual([
    'articles.csv',
    'id,author,year\r\nthree,ada,3\r\none,ada,1\r\n',
  ])
  await menu.click()
  await page.getByRole('menuitem', { name: 'Copy as curl' }).click()
  const copied = () => page.evaluate(() => navigator.clipboard.readText())
  await expect.poll(copied).toMatch(/^curl .*\/_db\/blog\/articles\?author=ada&sort=-year'$/)
})

test('A schema is set, enforced and removed', async ({ page, gatehouse, browserErrors }) => {
  browserErrors.allow(/^http 404 GET .*\/_schema\/articles$/)
  browserErrors.allow(/^http 422 PUT .*\/_schema\/articles$/)
  await makeBlog(gatehouse, [{ id: 'one', title: 1 }])
  await gatehouse.signIn(page, articlesPath)
  await page.getByRole('link', { name: 'Schema' }).click()
  await expect(page.getByRole('heading', { name: 'Schema of articles' })).toBeVisible()
  const schema = page.getByRole('textbox', { name: 'Schema as JSON' })
  await expect(schema).toHaveAccessibleDescription(/No schema yet/)
  await schema.fill('{\n  "properties": {\n    "title": { "type": "sting" }\n  }\n}')
  await page.getByRole('button', { name: 'Save schema' }).click()
  await expect(schema).toHaveAttribute('aria-invalid', 'true')
  await expect(
    page.getByRole('alert').getByRole('button', { name: 'Line 3' }).first(),
  ).toBeVisible()
  await schema.fill('{ "properties": { "title": { "type": "string" } } }')
  await schema.press('Control+Enter')
  await expect(schema).toHaveAccessibleDescription(
    /Existing documents are not checked until they are changed/,
  )
  const refused = await gatehouse.post('/_db/blog/articles', { title: 2 })
  expect(refused.status).toBe(422)
  await page.getByRole('button', { name: 'Remove schema' }).click()
  await page
    .getByRole('dialog', { name: 'Remove the schema of articles?' })
    .getByRole('button', { name: 'Remove schema' })
    .click()
  await expect(schema).toHaveAccessibleDescription(/No schema yet/)
  expect((await gatehouse.post('/_db/blog/articles', { title: 2 })).status).toBe(201)
})

test('Documents are imported from text and from a file, filtered by several fields and deleted', async ({
  page,
  gatehouse,
}) => {
  await makeBlog(gatehouse, [{ id: 'd1', kind: 'stored' }])
  await gatehouse.signIn(page, articlesPath)
  await page.getByRole('button', { name: 'Import' }).click()
  const form = dialogOf(page, 'Import documents into articles')
  const start = form.getByRole('button', { name: 'Import documents' })
  await start.click()
  await expect(form.getByText('Choose a file, or paste documents.')).toBeVisible()
  await form.getByLabel('Or paste documents').fill('id,kind,n\nd1,1,1\nnew,1,two\n"d\n3",a,"x')
  await expect(form.getByLabel('Format')).toContainText('Detected: CSV')
  await expect(form.getByRole('columnheader', { name: 'n number, text' })).toBeVisible()
  await start.click()
  await expect(form.getByText('1 created, 2 failed.').first()).toBeVisible()
  const errors = form.getByRole('list', { name: 'Errors' })
  await expect(errors.getByRole('listitem').first()).toContainText('Line 2 /id')
  const download = page.waitForEvent('download')
  await form.getByRole('button', { name: 'Download errors' }).click()
  const file = await readFile(await (await download).path(), 'utf8')
  expect(file).toMatch(/^line,pointer,message\r\n2,"\/id",/)
  await form.getByRole('button', { name: 'Close' }).last().click()
  await expect(page.getByRole('rowheader')).toHaveText(['d1', 'new'])

  const many = Array.from({ length: 1_200 }, (_, n) => ({ id: `d${n}`, kind: n % 2, n: n % 3 }))
  await page.getByRole('button', { name: 'Import' }).click()
  const chooser = page.waitForEvent('filechooser')
  await form.getByRole('button', { name: 'File' }).click()
  const buffer = Buffer.from(JSON.stringify(many, null, 2))
  await (await chooser).setFiles({ name: 'a.json', mimeType: 'application/json', buffer })
  await form.getByLabel('If the id exists').selectOption('Replace the stored document')
  await expect(form.getByRole('cell', { name: 'd0' })).toBeVisible()
  await page.keyboard.press('Control+Enter')
  await expect(form.getByText('1,199 created, 1 replaced.').first()).toBeVisible()
  await form.getByRole('button', { name: 'Close' }).last().click()
  await expect(page.getByRole('rowheader')).toHaveCount(50)

  await page.goto(`${articlesPath}?filter=id%3Dd7%26kind%3D1`)
  await expect(page.getByRole('rowheader')).toHaveText(['d7'])
  await page.goto(`${articlesPath}/d9`)
  await expect(dialogOf(page, 'Document d9')).toContainText('"kind": 1')

  await page.goto(articlesPath)
  await page.getByRole('button', { name: 'Delete all documents' }).click()
  const question = dialogOf(page, 'Delete all documents of articles?')
  await expect(question).toContainText('1,201 documents')
  await question.getByRole('button', { name: 'Delete all documents' }).click()
  await expect(question.getByRole('textbox')).toHaveAccessibleDescription(
    /Type articles exactly as shown to delete/,
  )
  await question.getByRole('textbox').fill('articles')
  await page.keyboard.press('Enter')
  const deleting = dialogOf(page, 'Deleting documents')
  await expect(deleting).toContainText('1,201 documents of articles were deleted.', {
    timeout: 30_000,
  })
  expect((await gatehouse.get('/_db/blog/articles')).body).toEqual([])
})

test('A missing database is reported with a link to the others', async ({
  page,
  gatehouse,
  browserErrors,
}) => {
  browserErrors.allow(/^http 404 GET /)
  await gatehouse.signIn(page, '/_console/documents/absent')
  await expect(page.getByText('there is no database absent')).toBeVisible()
  await page.getByRole('link', { name: 'Choose another database' }).click()
  await expect(page.getByRole('list', { name: 'Choose a database' })).toContainText('_system')
})
