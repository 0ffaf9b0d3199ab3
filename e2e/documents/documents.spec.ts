import {
  ARTICLES,
  dialogOf,
  editorOf,
  makeBlog,
  replaceOutside,
} from '../support/page/documents-page.ts'
import { expectAccessibleInBothThemes } from '../support/page/expect-accessible.ts'
import { expect, test } from '../support/server/gatehouse.ts'

test('The first document of a database is created and can be read through its endpoint', async ({
  page,
  gatehouse,
  browserErrors,
}) => {
  browserErrors.allow(/^http 422 POST .*\/_db\/blog\/articles$/)
  await makeBlog(gatehouse)
  await gatehouse.signIn(page, '/_console/endpoints')
  await page.getByRole('link', { name: 'Data', exact: true }).click()
  await page.getByRole('link', { name: 'blog', exact: true }).first().click()
  await expect(page.getByText('blog contains no documents.')).toBeVisible()

  await page.getByRole('button', { name: 'Create the first document' }).click()
  const form = dialogOf(page, 'Create document')
  await expect(form.getByRole('combobox', { name: 'Collection' })).toBeFocused()
  await form.getByRole('combobox', { name: 'Collection' }).fill('Articles')
  await editorOf(page).fill('{\n  "title": "One"\n  "author": "ada"\n}')
  await page.keyboard.press('Control+Enter')
  await expect(form.getByRole('combobox', { name: 'Collection' })).toHaveAccessibleDescription(
    /begins with a lowercase letter/,
  )
  await expect(editorOf(page)).toHaveAccessibleDescription(/^Invalid JSON at line 3, column 3\./)
  // The editor marks the same line.
  const topOf = async (selector: string, at: number) =>
    Math.round((await form.locator(selector).nth(at).boundingBox())?.y ?? Number.NaN)
  await expect(form.locator('.cm-lint-marker-error')).toHaveCount(1)
  const [line, marked] = await Promise.all([
    topOf('.cm-line', 2),
    topOf('.cm-gutterElement:has(> .cm-lint-marker-error)', 0),
  ])
  expect(marked).toBe(line)

  await form.getByRole('combobox', { name: 'Collection' }).fill('articles')
  await editorOf(page).fill('{ "id": "one", "title": "One", "title": "Two" }')
  await page.keyboard.press('Control+Enter')
  await expect(editorOf(page)).toHaveAccessibleDescription(/^The key "title" occurs twice\./)
  await expect(editorOf(page)).toBeFocused()

  await editorOf(page).fill('{ "id": "one", "title": "One", "author": "ada" }')
  await page.keyboard.press('Control+Enter')
  await expect(dialogOf(page, 'Document one')).toContainText('"author": "ada"')
  const row = page.getByRole('row').filter({ hasText: 'one' })
  await expect(row.getByRole('cell', { name: 'ada' })).toBeVisible()
  await page.keyboard.press('Escape')
  await expect(page).toHaveURL(/\/data\/blog\/articles$/)
  await expect(row).toBeFocused()

  const port = await gatehouse.freePort()
  const endpoint = `tcp://127.0.0.1:${port}`
  await gatehouse.post('/_db/_system/_api/endpoint', { endpoint, databases: ['blog'] })
  expect(await gatehouse.get(`http://127.0.0.1:${port}/articles/one`)).toMatchObject({
    status: 200,
    body: { id: 'one', title: 'One', author: 'ada' },
  })
})

test('A form that is submitted twice at once creates one document', async ({ page, gatehouse }) => {
  await makeBlog(gatehouse)
  await gatehouse.signIn(page, ARTICLES)
  await page.getByRole('button', { name: 'Create document' }).click()
  const form = dialogOf(page, 'Create document in articles')
  await editorOf(page).fill('{ "title": "One" }')
  await form.locator('form').evaluate((element: HTMLFormElement) => {
    element.requestSubmit()
    element.requestSubmit()
  })
  await expect(form).toBeHidden()
  expect((await gatehouse.get('/_db/blog/articles')).body).toHaveLength(1)
})

test('Each schema violation is shown with its position in the document', async ({
  page,
  gatehouse,
  browserErrors,
}) => {
  browserErrors.allow(/^http 422 POST /)
  await makeBlog(gatehouse, [{ id: 'one', title: 'One' }])
  await gatehouse.signIn(page, `${ARTICLES}?create=1`)
  const setSchema = (properties: object) =>
    page.evaluate(
      async (schema) => {
        await fetch('/_db/blog/_schema/articles', {
          method: 'PUT',
          headers: { 'X-Gatehouse': '1', 'Content-Type': 'application/json' },
          body: JSON.stringify(schema),
        })
      },
      { properties },
    )
  const violations = page.getByRole('alert').getByRole('listitem')
  const marked = page.locator('.cm-lintRange-error')
  await setSchema({ title: { type: 'string' } })
  await editorOf(page).fill('{\n  "title": 2,\n  "tags": [\n    "ab",\n    "c"\n  ]\n}')
  await page.keyboard.press('Control+Enter')
  await expect(editorOf(page)).toBeFocused()
  await expect(marked).toHaveText(['2'])

  // The same text again: its marks change.
  await setSchema({ title: { type: 'string' }, tags: { items: { minLength: 2 } } })
  await page.keyboard.press('Control+Enter')
  await expect(violations).toHaveCount(2)
  await expect(page.getByText('The text has 2 errors:')).toBeVisible()
  await expect(page.getByText(/must be string/)).toHaveCount(1)
  await expect(violations.filter({ hasText: '/title' })).toContainText(/^Line 2 .*string/)
  await expect(marked).toHaveText(['2', '"c"'])
  await violations.filter({ hasText: '/tags/1' }).getByRole('button', { name: 'Line 5' }).click()
  await expect(editorOf(page)).toBeFocused()
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
  await gatehouse.signIn(page, `${ARTICLES}?create=1`)
  await expect(editorOf(page)).toBeFocused()
  await expect(editorOf(page)).toHaveAccessibleDescription(/Press Tab or Esc to leave the editor/)
  await page.keyboard.type('"id": "two",')
  await page.keyboard.press('Enter')
  await page.keyboard.type('"title": "Two"')
  await expect(editorOf(page).locator('.cm-line')).toHaveText([
    '{',
    '  "id": "two",',
    '  "title": "Two"',
    '}',
  ])
  await page.keyboard.press('Escape')
  const form = dialogOf(page, 'Create document in articles')
  await expect(form.getByRole('button', { name: 'Cancel' })).toBeFocused()
  await page.keyboard.press('Shift+Tab')
  await expect(editorOf(page)).toBeFocused()
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
  browserErrors.allow(/^http 412 PUT .*\/_db\/blog\/articles\/\?id=one$/)
  await makeBlog(gatehouse, [{ id: 'one', title: 'One' }])
  await gatehouse.signIn(page, ARTICLES)
  await page.getByRole('link', { name: 'one' }).click()
  await dialogOf(page, 'Document one').getByRole('button', { name: 'Edit document' }).click()
  await expect(editorOf(page)).toContainText('"title": "One"')
  await expect(editorOf(page)).toBeFocused()

  await replaceOutside(gatehouse, 'one', { title: 'Theirs' })
  await editorOf(page).fill('{ "title": "Mine" }')
  await page.keyboard.press('Control+Enter')
  const conflict = page.getByRole('alert').filter({ hasText: 'Someone changed this document' })
  await expect(conflict.getByRole('region', { name: 'Theirs' })).toContainText('"Theirs"')
  await expect(conflict.getByRole('region', { name: 'Yours' })).toContainText('"Mine"')
  await expectAccessibleInBothThemes(page)
  expect(await gatehouse.get('/_db/blog/articles/one')).toMatchObject({ body: { title: 'Theirs' } })

  await conflict.getByRole('button', { name: 'Keep mine' }).click()
  await expect(editorOf(page)).toBeFocused()
  await page.keyboard.press('Control+Enter')
  await expect(dialogOf(page, 'Document one')).toContainText('"title": "Mine"')
  await page.keyboard.press('Escape')
  await expect(page.getByRole('row').filter({ hasText: 'one' })).toContainText('Mine')
  expect((await gatehouse.get('/_db/blog/articles/one')).body).toEqual({ id: 'one', title: 'Mine' })
})

test('A document is searched and edited beside the table, and changes that are left are kept', async ({
  page,
  gatehouse,
}) => {
  const many = Array.from({ length: 40 }, (_, at) => ({
    id: `d${String(at).padStart(2, '0')}`,
    title: at === 0 ? 'Sea, see, sea' : 'Lake',
  }))
  await makeBlog(gatehouse, many)
  await page.setViewportSize({ width: 1440, height: 900 })
  await gatehouse.signIn(page, ARTICLES)
  await expect(page.getByText('40 documents', { exact: true })).toBeVisible()
  await expect(page.getByRole('row', { name: 'd23' })).toBeInViewport({ ratio: 1 })
  await page.getByRole('link', { name: 'd00' }).click()
  const panel = dialogOf(page, 'Document d00')
  await panel.getByRole('searchbox', { name: 'Find in the document' }).fill('SEA')
  await expect(panel.getByText('1 of 2')).toBeVisible()
  await page.keyboard.press('Enter')
  await expect(panel.getByText('2 of 2')).toBeVisible()
  await panel.getByRole('button', { name: 'Edit document' }).click()
  await expect(editorOf(page)).toBeFocused()
  await dialogOf(page, 'Edit document d00').getByRole('searchbox').fill('lake')
  await expect(page.getByText('No match')).toBeVisible()
  await editorOf(page).fill('{ "title": "Mine" }')
  await page.getByRole('link', { name: 'd01' }).click()
  await expect(dialogOf(page, 'Document d01')).toContainText('Lake')
  await expect(page.getByText('Your changes to d00 are kept, but not saved').first()).toBeVisible()
  await page.getByRole('link', { name: 'Continue editing' }).click()
  await page.getByRole('button', { name: 'Restore' }).click()
  await expect(editorOf(page)).toContainText('Mine')
  await page.getByRole('button', { name: 'Cancel' }).click()
  await expect(panel).toContainText('Sea, see, sea')
  await panel.getByRole('button', { name: 'Edit document' }).click()
  await expect(editorOf(page)).toContainText('Sea')
  await expect(page.getByRole('button', { name: 'Restore' })).toBeHidden()

  await page.getByRole('button', { name: 'Create document' }).click()
  await editorOf(page).fill('{ "title": "New" }')
  await page.getByRole('link', { name: 'd02' }).click()
  await expect(page.getByText('Your new document is kept, but not saved').first()).toBeVisible()
  await page.getByRole('link', { name: 'Continue editing' }).click()
  await page.getByRole('button', { name: 'Restore' }).click()
  await expect(editorOf(page)).toContainText('New')
  // A selection does not close the panel.
  await page.getByRole('checkbox', { name: 'Select d03', exact: true }).check()
  await expect(page.getByText('1 selected')).toBeVisible()
  await expect(editorOf(page)).toContainText('New')
  const rail = page.getByRole('navigation', { name: 'Databases' })
  await expect(rail).toBeVisible()
  await page.setViewportSize({ width: 1280, height: 900 })
  await expect(rail).toBeHidden()
  await page.getByRole('button', { name: 'Show the databases' }).click()
  await expect(rail).toBeVisible()
})

test('A schema is set, enforced and removed', async ({ page, gatehouse, browserErrors }) => {
  browserErrors.allow(/^http 404 GET .*\/_schema\/articles$/)
  browserErrors.allow(/^http 422 PUT .*\/_schema\/articles$/)
  await makeBlog(gatehouse, [{ id: 'one', title: 1 }])
  await gatehouse.signIn(page, ARTICLES)
  await page.getByRole('link', { name: 'Schema' }).click()
  await expect(page).toHaveTitle(/^Schema · articles/)
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
  await expect(page.getByRole('region', { name: 'Last change' })).toContainText(
    'Schema of articles saved',
  )
  const save = page.getByRole('button', { name: 'Save schema' })
  const cancel = page.getByRole('button', { name: 'Cancel' })
  await expect(save).toHaveAttribute('aria-disabled', 'true')
  await expect(cancel).toHaveAttribute('aria-disabled', 'true')
  await schema.press('Control+End')
  await page.keyboard.type(' ')
  await expect(save).not.toHaveAttribute('aria-disabled')
  await cancel.click()
  await expect(save).toHaveAttribute('aria-disabled', 'true')
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

test('A missing database is reported with a link to the others', async ({
  page,
  gatehouse,
  browserErrors,
}) => {
  browserErrors.allow(/^http 404 GET /)
  await gatehouse.signIn(page, '/_console/data/absent')
  const report = page.getByText('There is no database absent. It may have been dropped.')
  await expect(report).toBeVisible()
  await expect(page.getByRole('button', { name: 'Create document' })).toBeHidden()
  await expect(page.getByRole('button', { name: 'Import' })).toBeHidden()
  await page.goto('/_console/data/absent/articles')
  await expect(report).toBeVisible()
  for (const name of ['Create document', 'Import', 'Export', 'Columns', 'Count documents']) {
    await expect(page.getByRole('button', { name })).toBeHidden()
  }
  await page.getByRole('link', { name: 'Choose another database' }).click()
  await expect(page.getByRole('rowheader', { name: '_system' })).toBeVisible()
})
