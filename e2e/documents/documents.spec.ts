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
  await page.getByRole('link', { name: 'Documents' }).click()
  await page.getByRole('link', { name: 'blog', exact: true }).click()
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
  await expect(page).toHaveURL(/\/documents\/blog\/articles$/)
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

test('A saved document is undone unless someone has changed it since', async ({
  page,
  gatehouse,
  browserErrors,
}) => {
  browserErrors.allow(/^http 412 PUT .*\/_db\/blog\/articles\/\?id=one$/)
  await makeBlog(gatehouse, [{ id: 'one', title: 'One' }])
  await gatehouse.signIn(page, ARTICLES)
  const toast = page.getByRole('region', { name: 'Last change' })
  const shown = dialogOf(page, 'Document one')
  const save = async (title: string) => {
    await shown.getByRole('button', { name: 'Edit document' }).click()
    await editorOf(page).fill(`{ "title": "${title}" }`)
    await page.keyboard.press('Control+Enter')
    await expect(toast).toContainText('Document one saved')
    await expect(shown).toContainText(title)
    await shown.getByRole('button', { name: 'Edit document' }).focus()
  }
  await page.getByRole('link', { name: 'one' }).click()
  await save('Second')
  await expectAccessibleInBothThemes(page)
  // The toast is above the dialog.
  await toast.getByRole('button', { name: 'Undo' }).click()
  await expect(toast).toContainText('1 document restored')
  await expect(shown).toContainText('"title": "One"')
  // The focus stays in the dialog.
  await expect(page.locator('[aria-modal="true"]:focus-within')).toBeVisible()
  await save('Third')
  await page.keyboard.press('Control+z')
  await expect(toast).toContainText('1 document restored')
  await expect(shown).toContainText('"title": "One"')

  await save('Fourth')
  await replaceOutside(gatehouse, 'one', { title: 'Theirs' })
  await page.keyboard.press('Control+z')
  await expect(toast).toContainText('1 document could not be restored')
  await expect(toast).toContainText('one Someone changed it.')
  expect((await gatehouse.get('/_db/blog/articles/one')).body).toMatchObject({ title: 'Theirs' })
})

test('A document that someone else changed since it was shown is edited and deleted as it is stored', async ({
  page,
  gatehouse,
}) => {
  await makeBlog(gatehouse, [{ id: 'one', title: 'One' }])
  await gatehouse.signIn(page, ARTICLES)
  const show = async () => {
    await page.getByRole('link', { name: 'one' }).click()
    await expect(dialogOf(page, 'Document one')).toContainText('"title":')
    await page.keyboard.press('Escape')
    await expect(page.locator('[data-row=one]')).toBeFocused()
  }
  await show()
  await replaceOutside(gatehouse, 'one', { title: 'Theirs' })
  await page.keyboard.press('e')
  await expect(editorOf(page)).toContainText('"title": "Theirs"')
  await expect(editorOf(page)).toBeFocused()
  await editorOf(page).fill('{ "title": "Mine" }')
  await page.keyboard.press('Control+Enter')
  await expect(dialogOf(page, 'Document one')).toContainText('"title": "Mine"')
  await page.keyboard.press('Escape')

  await replaceOutside(gatehouse, 'one', { title: 'Theirs again' })
  await expect(page.locator('[data-row=one]')).toBeFocused()
  await page.keyboard.press('Delete')
  const question = dialogOf(page, 'Delete document one?')
  await expect(question).toContainText('"title": "Theirs again"')
  await question.getByRole('button', { name: 'Delete document' }).click()
  await expect(page.getByRole('region', { name: 'Last change' })).toContainText(
    '1 document deleted',
  )
})

test('A document that someone else deleted can be created again', async ({
  page,
  gatehouse,
  browserErrors,
}) => {
  browserErrors.allow(/^http 4(04|12) (GET|PUT) .*\/_db\/blog\/articles\/\?id=one$/)
  await makeBlog(gatehouse, [{ id: 'one', title: 'One' }])
  await gatehouse.signIn(page, `${ARTICLES}?edit=one`)
  await editorOf(page).fill('{ "title": "Mine" }')
  await gatehouse.delete('/_db/blog/articles/one')
  await page.keyboard.press('Control+Enter')
  await expect(page.getByText('Someone deleted this document.')).toBeVisible()
  await page.getByRole('button', { name: 'Create it again' }).click()
  await expect(dialogOf(page, 'Document one')).toContainText('"title": "Mine"')

  await gatehouse.delete('/_db/blog/articles/one')
  // Repeated, because a request that began before the deletion is not replaced by another one.
  await expect(async () => {
    await page.evaluate(() => window.dispatchEvent(new Event('visibilitychange')))
    await expect(dialogOf(page, 'There is no document one')).toBeVisible({ timeout: 1000 })
  }).toPass()
})

test('A value that another document has in a unique index is an error of the text, not a conflict', async ({
  page,
  gatehouse,
  browserErrors,
}) => {
  browserErrors.allow(/^http 4(?:04|09|12) (?:GET|PUT) .*\/_db\/blog\/articles\/\?id=one$/)
  await makeBlog(gatehouse, [
    { id: 'one', email: 'ada@example.org' },
    { id: 'two', email: 'grace@example.org' },
  ])
  await gatehouse.put('/_db/blog/_index/articles/by-email', { fields: ['email'], unique: true })
  const states = async () => (await gatehouse.get('/_db/blog/_index/articles')).body
  await expect.poll(states).toMatchObject([{ state: 'ready' }])
  await gatehouse.signIn(page, `${ARTICLES}?edit=one`)
  const expectTaken = async () => {
    await editorOf(page).fill('{ "email": "grace@example.org" }')
    await page.keyboard.press('Control+Enter')
    await expect(editorOf(page)).toHaveAccessibleDescription(/by-email/)
    await expect(editorOf(page)).toBeFocused()
    await expect(page.getByText('Someone changed this document')).toBeHidden()
  }
  await expectTaken()
  // Also if the document is created again.
  await gatehouse.delete('/_db/blog/articles/one')
  await editorOf(page).fill('{ "email": "new@example.org" }')
  await page.keyboard.press('Control+Enter')
  await expect(page.getByText('Someone deleted this document.')).toBeVisible()
  await expectTaken()
  await editorOf(page).fill('{ "email": "new@example.org" }')
  await page.keyboard.press('Control+Enter')
  await expect(dialogOf(page, 'Document one')).toContainText('"email": "new@example.org"')
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

test('Discarding the input during a conflict shows the stored version', async ({
  page,
  gatehouse,
  browserErrors,
}) => {
  browserErrors.allow(/^http 412 PUT .*\/_db\/blog\/(?:_schema\/articles|articles\/\?id=one)$/)
  await makeBlog(gatehouse, [{ id: 'one', title: 'One' }])
  const setSchema = (title: string) => gatehouse.put('/_db/blog/_schema/articles', { title })
  await setSchema('First')
  await gatehouse.signIn(page, `${ARTICLES}/schema`)
  const schema = page.getByRole('textbox', { name: 'Schema as JSON' })
  await expect(schema).toContainText('"First"')
  await setSchema('Theirs')
  await schema.fill('{ "title": "Mine" }')
  await page.keyboard.press('Control+Enter')
  const keep = page.getByRole('button', { name: 'Keep mine' })
  await expect(keep).toBeVisible()
  await page.getByRole('button', { name: 'Cancel' }).click()
  await expect(keep).toBeHidden()
  await expect(schema).toContainText('"Theirs"')
  // No conflict: the form has the version that is stored.
  await schema.fill('{ "title": "Mine" }')
  await page.keyboard.press('Control+Enter')
  await expect(page.getByRole('region', { name: 'Last change' })).toContainText(
    'Schema of articles saved',
  )
  expect((await gatehouse.get('/_db/blog/_schema/articles')).body).toEqual({ title: 'Mine' })
  // Another page, and back.
  await page.getByRole('link', { name: 'Indexes' }).click()
  await expect(page.getByText('No indexes yet.')).toBeVisible()
  await setSchema('Theirs again')
  await page.getByRole('link', { name: 'Schema' }).click()
  await expect(schema).toContainText('"Theirs again"')
  await gatehouse.delete('/_db/blog/_schema/articles')

  await page.goto(`${ARTICLES}?edit=one`)
  await editorOf(page).fill('{ "title": "Mine" }')
  await page.reload()
  await expect(editorOf(page)).toContainText('"title":')
  await page.getByRole('button', { name: 'Restore' }).click()
  await expect(editorOf(page)).toContainText('"Mine"')
  await replaceOutside(gatehouse, 'one', { title: 'Theirs' })
  await page.keyboard.press('Control+Enter')
  await expect(keep).toBeVisible()
  await page.getByRole('button', { name: 'Take theirs' }).click()
  await expect(keep).toBeHidden()
  await expect(editorOf(page)).toContainText('"Theirs"')
})

test('A missing database is reported with a link to the others', async ({
  page,
  gatehouse,
  browserErrors,
}) => {
  browserErrors.allow(/^http 404 GET /)
  await gatehouse.signIn(page, '/_console/documents/absent')
  const report = page.getByText('There is no database absent. It may have been dropped.')
  await expect(report).toBeVisible()
  await expect(page.getByRole('button', { name: 'Create document' })).toBeHidden()
  await expect(page.getByRole('button', { name: 'Import' })).toBeHidden()
  await page.goto('/_console/documents/absent/articles')
  await expect(report).toBeVisible()
  for (const name of ['Create document', 'Import', 'Export', 'Columns', 'Count documents']) {
    await expect(page.getByRole('button', { name })).toBeHidden()
  }
  await page.getByRole('link', { name: 'Choose another database' }).click()
  await expect(page.getByRole('list', { name: 'Choose a database' })).toContainText('_system')
})

test('An invalid name of a collection is reported with a link to the others', async ({
  page,
  gatehouse,
  browserErrors,
}) => {
  browserErrors.allow(/^http 404 GET /)
  await makeBlog(gatehouse, [{ id: 'one' }])
  await gatehouse.signIn(page, '/_console/documents/blog/Bad%20Name')
  await expect(page.getByText('"Bad Name" is not a valid collection name.')).toBeVisible()
  await page.getByRole('link', { name: 'Choose another collection' }).click()
  await expect(page.getByRole('list', { name: 'Collections' })).toContainText('articles')
})

test('Databases and collections are filtered by name, and the address keeps the filter', async ({
  page,
  gatehouse,
}) => {
  await makeBlog(gatehouse, [{ id: 'one' }])
  for (const name of ['a', 'b', 'c', 'd', 'e', 'f', 'g']) {
    await gatehouse.post('/_db/_system/_api/database', { name: `shop-${name}` })
    await gatehouse.post(`/_db/blog/notes-${name}`, { id: 'one' })
  }
  await gatehouse.signIn(page, '/_console/documents')
  await page.getByRole('searchbox', { name: 'Filter databases' }).fill('BLO')
  const names = page.getByRole('listitem')
  await expect(page.getByRole('list', { name: 'Choose a database' })).toHaveText('blog')
  await expect(page).toHaveURL(/documents\?q=BLO$/)
  await page.getByRole('link', { name: 'blog', exact: true }).click()
  await expect(page.getByRole('list', { name: 'Collections' }).locator(names)).toHaveCount(8)
  await page.getByRole('searchbox', { name: 'Filter collections' }).fill('absent')
  await expect(page.getByText('No collection matches “absent”. 8 are hidden.')).toBeVisible()
  await expect(page).toHaveURL(/blog\?q=absent$/)
  await page.reload()
  await page.getByRole('button', { name: 'Clear filter' }).last().click()
  await expect(page.getByRole('list', { name: 'Collections' }).locator(names)).toHaveCount(8)
  await page.goBack()
  await expect(page.getByRole('list', { name: 'Choose a database' })).toHaveText('blog')
})
