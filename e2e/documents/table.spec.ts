import { ARTICLES, dialogOf, editorOf, makeBlog } from '../support/page/documents-page.ts'
import { expect, test } from '../support/server/gatehouse.ts'

test('Documents are paged, filtered and deleted after a confirmation', async ({
  page,
  gatehouse,
  browserErrors,
}) => {
  browserErrors.allow(/^http 412 PUT .*\/_db\/blog\/articles\/\?id=d05$/)
  const many = Array.from({ length: 60 }, (_, at) => ({
    id: `d${String(at).padStart(2, '0')}`,
    title: `Number ${at}`,
    author: at === 55 ? 'ada' : 'grace',
    pages: at,
  }))
  await makeBlog(gatehouse, many)
  await gatehouse.signIn(page, ARTICLES)
  const ids = page.getByRole('rowheader')
  await expect(ids).toHaveCount(50)
  await page.getByRole('button', { name: 'Next' }).click()
  await expect(ids).toHaveCount(10)
  await expect(ids.first()).toHaveText('d50')
  const pages = page.getByRole('navigation', { name: 'Pages' })
  await expect(pages).toContainText('Documents 51–60')
  await expect(page.getByText('GET /_db/blog/articles?after=d49', { exact: true })).toBeVisible()
  await page.reload()
  await expect(ids.first()).toHaveText('d50')
  await page.getByRole('button', { name: 'Previous' }).click()
  await expect(ids).toHaveCount(50)
  await page.goto(`${ARTICLES}?after=d54`)
  await expect(ids.first()).toHaveText('d55')
  await expect(pages).toContainText('5 of 60 documents on this page')
  await page.getByRole('button', { name: 'First page' }).click()
  await expect(ids).toHaveCount(50)
  await expect(pages).toContainText('Documents 1–50')

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

  // Several values, suggested one by one.
  await page.getByRole('button', { name: 'Edit the filter author is ada' }).click()
  const edit = page.getByRole('form', { name: 'Edit filter' })
  const several = edit.getByRole('combobox', { name: 'Value' })
  await edit.getByRole('combobox', { name: 'Condition' }).selectOption('is one of')
  await several.fill('grace, ')
  await page.getByRole('option', { name: 'ada', exact: true }).click()
  await expect(several).toHaveValue('grace, ada')
  await page.keyboard.press('Enter')
  await expect(ids).toHaveCount(50)
  const chip = page.getByRole('button', {
    name: 'Edit the filter author is one of “grace”, “ada”',
  })
  await expect(page.getByText('GET /_db/blog/articles?author:in=grace,ada')).toBeVisible()
  await chip.click()
  await several.fill('ada')
  await page.keyboard.press('Enter')
  await expect(ids).toHaveText(['d55'])

  await page.getByRole('link', { name: 'd55' }).click()
  await dialogOf(page, 'Document d55').getByRole('button', { name: 'Delete document' }).click()
  const question = dialogOf(page, 'Delete document d55?')
  await expect(question.getByRole('button', { name: 'Keep it' })).toBeFocused()
  await expect(question).toContainText('"title": "Number 55"')
  await question.getByRole('button', { name: 'Delete document' }).click()
  await expect(question).toBeHidden()
  const last = page.getByRole('region', { name: 'Last change' })
  await expect(last).toContainText('1 document deleted')
  await expect(page.getByText('No documents in articles match the filter.')).toBeVisible()
  await page.getByRole('button', { name: 'Clear filters' }).last().click()
  await expect(ids).toHaveCount(50)
  await expect(page.getByRole('main')).toBeFocused()
  expect((await gatehouse.get('/_db/blog/articles/d55')).status).toBe(404)

  // By keyboard. The focus moves to the next document, and Ctrl+Z restores the deleted one.
  await last.getByRole('button', { name: 'Close' }).click()
  const remove = async (id: string) => {
    await page.goto(`${ARTICLES}?remove=${id}`)
    const confirmation = dialogOf(page, `Delete document ${id}?`)
    await expect(confirmation).toContainText('You can undo this for ten seconds.')
    await expect(page.getByRole('link', { name: id })).toBeAttached()
    await confirmation.getByRole('button', { name: 'Delete document' }).press('Enter')
  }
  await remove('d03')
  await expect(page.getByRole('link', { name: 'd03' })).toBeHidden()
  await expect(page.getByRole('row', { name: 'd04' })).toBeFocused()
  await expect(last).toContainText('1 document deleted')
  await page.keyboard.press('Control+z')
  await expect(last).toContainText('1 document restored')
  await expect(page.getByRole('link', { name: 'd03' })).toBeVisible()
  expect((await gatehouse.get('/_db/blog/articles/d03')).body).toEqual(many[3])

  // A document with this id that someone else created is kept.
  await remove('d05')
  await expect(last).toContainText('1 document deleted')
  await gatehouse.post('/_db/blog/articles', { id: 'd05', title: 'theirs' })
  await page.keyboard.press('Control+z')
  await expect(last).toContainText('1 document could not be restored')
  await expect(last).toContainText(/d05\s+Someone created it again\./)
  expect((await gatehouse.get('/_db/blog/articles/d05')).body).toMatchObject({ title: 'theirs' })
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
  await gatehouse.signIn(page, ARTICLES)
  const ids = page.getByRole('rowheader')
  const head = (name: string) => page.getByRole('columnheader', { name, exact: true })
  await head('pages').getByRole('button').click()
  await expect(ids.first()).toHaveText('d00')
  await expect(ids.nth(1)).toHaveText('d07')
  await head('pages').getByRole('button').click()
  await expect(ids.first()).toHaveText('d06')
  await expect(head('pages')).toHaveAttribute('aria-sort', 'descending')
  await expect(head('pages').getByRole('button')).toBeFocused()
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
  await page.getByRole('button', { name: 'Previous' }).click()
  await expect(ids.first()).toHaveText('d55')

  await page.getByRole('button', { name: 'Columns' }).click()
  await page.getByRole('menuitemcheckbox', { name: 'author', exact: true }).click()
  await page.getByRole('menuitemcheckbox', { name: 'author.name' }).click()
  await page.keyboard.press('Escape')
  await expect(head('author')).toHaveCount(0)
  const edge = page.getByRole('separator', { name: 'Width of author.name' })
  const width = async () => Number(await edge.getAttribute('aria-valuenow'))
  // It takes the width that the other columns leave.
  expect(await width()).toBeGreaterThan(600)
  await edge.dblclick()
  await expect(page).toHaveURL(/columns=.*author\.name%3A/)
  await expect.poll(width).toBeLessThan(160)
  const fitted = await width()
  const isTruncated = await head('author.name')
    .locator('bdi')
    .evaluate((label) => label.scrollWidth > label.clientWidth)
  expect(isTruncated).toBe(false)
  // The header resizes the column, so its edge is no tab stop.
  await expect(edge).toHaveAttribute('tabindex', '-1')
  await head('author.name').getByRole('button').focus()
  await page.keyboard.press('Shift+ArrowLeft')
  await expect(edge).toHaveAttribute('aria-valuenow', `${fitted - 16}`)
  await page.keyboard.press('Shift+ArrowRight')
  await page.keyboard.press('Shift+ArrowRight')
  await expect(edge).toHaveAttribute('aria-valuenow', `${fitted + 16}`)
  const box = await edge.boundingBox()
  if (box === null) throw new Error('the column has no edge')
  await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2)
  await page.mouse.down()
  await page.mouse.move(box.x + box.width / 2 + 24, box.y, { steps: 3 })
  await page.mouse.up()
  await expect(page).toHaveURL(new RegExp(`columns=.*author\\.name%3A${fitted + 40}`))
  await page.getByLabel('Collection articles').getByRole('link', { name: 'Documents' }).click()
  await expect(page).toHaveURL(/\/articles$/)
  await expect(edge).toHaveAttribute('aria-valuenow', `${fitted + 40}`)
  await page.goto(ARTICLES)
  await expect(edge).toHaveAttribute('aria-valuenow', `${fitted + 40}`)
  await expect(page.getByRole('cell', { name: 'grace' }).first()).toBeVisible()
  await page.getByRole('button', { name: 'Columns' }).click()
  await page.getByRole('menuitem', { name: 'Reset columns' }).click()
  await expect(page.getByRole('columnheader')).toHaveText(['Id', 'author', 'pages'])
  await expect(page).toHaveURL(/\/articles$/)
  await page.reload()
  await expect(page.getByRole('columnheader')).toHaveText(['Id', 'author', 'pages'])
})

test('Rows are reached, selected and acted on by keyboard, and a click on one opens it', async ({
  page,
  gatehouse,
}) => {
  await makeBlog(gatehouse, [
    { id: 'a', title: 'A' },
    { id: 'b', title: 'B' },
    { id: 'c', title: 'C' },
  ])
  await gatehouse.signIn(page, ARTICLES)
  const row = (id: string) => page.locator(`[data-row=${id}]`)
  const select = (id: string) => page.getByRole('checkbox', { name: `Select ${id}`, exact: true })
  // Without the focus on a row.
  await expect(row('a')).toHaveAttribute('tabindex', '0')
  await page.keyboard.press('n')
  await expect(dialogOf(page, 'Create document in articles')).toBeVisible()
  await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click()
  await page.getByRole('button', { name: 'Refresh documents' }).focus()
  await page.keyboard.press('j')
  await expect(row('a')).toBeFocused()
  // One row at a time is in the tab order.
  expect(await page.locator('tbody').locator('[tabindex="0"]').count()).toBe(3)
  await row('a').focus()
  await page.keyboard.press('End')
  await expect(row('c')).toBeFocused()
  await page.keyboard.press('k')
  await expect(row('b')).toBeFocused()
  expect(await page.locator('tbody').locator('[tabindex="0"]').count()).toBe(3)
  await page.keyboard.press(' ')
  await expect(select('b')).toBeChecked()
  await page.keyboard.press('Shift+ArrowDown')
  await expect(row('c')).toBeFocused()
  await expect(select('c')).toBeChecked()
  await expect(page).toHaveURL(/selected=b%2Cc$/)
  // Extending selects the focused row and the next one, and deselects none.
  await page.getByRole('button', { name: 'Clear selection' }).click()
  await page.reload()
  await page.getByRole('checkbox', { name: 'Select all documents of this page' }).check()
  await row('a').focus()
  await page.keyboard.press('Shift+ArrowDown')
  await expect(row('b')).toBeFocused()
  await expect(page).toHaveURL(/selected=a%2Cb%2Cc$/)
  await select('b').click({ modifiers: ['Shift'] })
  await expect(select('b')).toBeChecked()
  await page.goto(`${ARTICLES}?selected=*`)
  await expect(page.getByText('All documents are selected')).toBeVisible()
  await row('a').focus()
  await page.keyboard.press('Shift+ArrowDown')
  await expect(row('b')).toBeFocused()
  await expect(page.getByText('All documents are selected')).toBeVisible()
  await page.keyboard.press('Home')
  await page.keyboard.press('Enter')
  await expect(dialogOf(page, 'Document a')).toContainText('"title": "A"')
  await page.keyboard.press('Escape')
  await expect(row('a')).toBeFocused()
  await page.keyboard.press('e')
  const cancel = page.getByRole('dialog').getByRole('button', { name: 'Cancel' })
  await expect(editorOf(page)).toBeFocused()
  await expect(dialogOf(page, 'Edit document a')).toBeVisible()
  // The first Esc leaves the editor.
  await page.keyboard.press('Escape')
  await expect(cancel).toBeFocused()
  await page.keyboard.press('Escape')
  await expect(row('a')).toBeFocused()
  await page.keyboard.press('c')
  await expect(page.getByText('a was copied.')).toBeAttached()
  await page.keyboard.press('n')
  await expect(dialogOf(page, 'Create document in articles')).toBeVisible()
  await cancel.click()
  await expect(row('a')).toBeFocused()
  await page.keyboard.press('Delete')
  await dialogOf(page, 'Delete document a?')
    .getByRole('button', { name: 'Delete document' })
    .click()
  await expect(row('a')).toHaveCount(0)
  await expect(row('b')).toBeFocused()
  await page.keyboard.press('?')
  const keys = page.getByRole('dialog', { name: 'Keyboard shortcuts' })
  await expect(keys.getByRole('region', { name: 'In the documents table' })).toContainText(
    'Delete the document',
  )
  await page.keyboard.press('Escape')
  await page.getByRole('cell', { name: 'C', exact: true }).click()
  await expect(dialogOf(page, 'Document c')).toBeVisible()
})

test('The table stays in place when an order or a filter is set or removed', async ({
  page,
  gatehouse,
}) => {
  const many = Array.from({ length: 1_200 }, (_, n) => ({
    id: `d${String(n).padStart(4, '0')}`,
    status: n === 0 ? 'paid' : 'open',
  }))
  await makeBlog(gatehouse, many)
  await gatehouse.signIn(page, ARTICLES)
  const head = page.getByRole('columnheader', { name: 'status' })
  const status = head.getByRole('button')
  await expect(page.getByText('GET /_db/blog/articles', { exact: true })).toBeVisible()
  const box = await status.boundingBox()
  const cell = await head.boundingBox()
  if (box === null || cell === null) throw new Error('the header is hidden')
  // Beside the name: the whole cell sorts.
  const x = cell.x + cell.width - 32
  expect(x).toBeGreaterThan(box.x + box.width)
  const click = () => page.mouse.click(x, box.y + box.height / 2)
  const top = async () => (await status.boundingBox())?.y
  await click()
  await expect(head).toHaveAttribute('aria-sort', 'ascending')
  await expect(page.getByText('GET /_db/blog/articles?sort=status')).toBeVisible()
  await expect(page.getByText('Scanned 1,200 documents.')).toBeVisible()
  expect(await top()).toBe(box.y)
  await click()
  await expect(head).toHaveAttribute('aria-sort', 'descending')
  await expect(page.getByRole('rowheader').first()).toHaveText('d0000')
  await click()
  await expect(head).toHaveAttribute('aria-sort', 'none')
  expect(await top()).toBe(box.y)

  await page.getByRole('button', { name: 'Add filter' }).click()
  const form = page.getByRole('form', { name: 'New filter' })
  await form.getByRole('combobox', { name: 'Field' }).fill('status')
  await form.getByRole('combobox', { name: 'Value' }).fill('paid')
  await form.getByRole('button', { name: 'Apply filter' }).click()
  await expect(page.getByRole('rowheader')).toHaveText(['d0000'])
  expect(await top()).toBe(box.y)
  await page.getByRole('button', { name: 'Clear filters' }).click()
  await expect(page.getByRole('rowheader')).toHaveCount(50)
  expect(await top()).toBe(box.y)
})

test('The header of the table stays in view while rows scroll', async ({ page, gatehouse }) => {
  const many = Array.from({ length: 60 }, (_, n) => ({
    id: `d${String(n).padStart(2, '0')}`,
    ...Object.fromEntries(Array.from({ length: 14 }, (_, field) => [`field ${field}`, 'text'])),
  }))
  await makeBlog(gatehouse, many)
  await gatehouse.signIn(page, ARTICLES)
  const isHeadInFront = () =>
    page.getByRole('columnheader', { name: 'Id' }).evaluate((head) => {
      const { left, top, height } = head.getBoundingClientRect()
      return head.contains(document.elementFromPoint(left + 20, top + height / 2))
    })
  const scrollToEnd = async () => {
    await page.getByRole('row', { name: 'd49' }).focus()
    await expect(page.getByRole('row', { name: 'd49' })).toBeInViewport()
    await expect(page.getByRole('columnheader', { name: 'Id' })).toBeInViewport()
    expect(await isHeadInFront()).toBe(true)
  }
  await scrollToEnd()
  // With columns that do not fit, the table scrolls in both directions.
  const fields = Array.from({ length: 14 }, (_, field) => `field ${field}`).join(',')
  await page.goto(`${ARTICLES}?columns=${fields}`)
  await scrollToEnd()
})

test('Documents of other programs are shown after a refresh, and when the window gets the focus', async ({
  page,
  gatehouse,
}) => {
  await makeBlog(gatehouse, [{ id: 'a' }])
  await gatehouse.signIn(page, `${ARTICLES}?count=1`)
  await expect(page.getByText('1 document.', { exact: true })).toBeVisible()
  await gatehouse.post('/_db/blog/articles', { id: 'b' })
  await page.getByRole('button', { name: 'Refresh documents' }).click()
  await expect(page.getByRole('rowheader')).toHaveText(['a', 'b'])
  await expect(page.getByText('2 documents.', { exact: true })).toBeVisible()
  await expect(page.getByText('The documents are up to date.')).toBeAttached()
  await gatehouse.post('/_db/blog/articles', { id: 'c' })
  await page.evaluate(() => window.dispatchEvent(new Event('focus')))
  await expect(page.getByRole('rowheader')).toHaveText(['a', 'b', 'c'])
})

test('On a narrow screen, the order is chosen from a list that shows field and direction', async ({
  page,
  gatehouse,
}) => {
  await makeBlog(gatehouse, [
    { id: 'a', title: 'A' },
    { id: 'b', title: 'B' },
  ])
  await page.setViewportSize({ width: 390, height: 844 })
  await gatehouse.signIn(page, ARTICLES)
  const order = page.getByRole('combobox', { name: 'Sort by' })
  await expect(order.locator('option')).toHaveText([
    'Sort by \u2068id\u2069, ascending',
    'Sort by \u2068id\u2069, descending',
    'Sort by \u2068title\u2069, ascending',
    'Sort by \u2068title\u2069, descending',
  ])
  await order.selectOption('-id')
  const links = page.getByRole('list', { name: 'Documents of articles' }).getByRole('link')
  await expect(links).toHaveText(['b', 'a'])
  await expect(page).toHaveURL(/sort=-id$/)
  // Wide enough for the text.
  expect((await order.boundingBox())?.width).toBeGreaterThan(300)
  await page.getByText('B', { exact: true }).click()
  await expect(dialogOf(page, 'Document b')).toBeVisible()
})

test('Long names, several lines and text from right to left fit the table', async ({
  page,
  gatehouse,
}) => {
  const title = 'שלום עולם, זה טקסט ארוך מאוד שנכתב מימין לשמאל'
  await makeBlog(gatehouse, [
    { id: 'one', title, ['very_long_name_'.repeat(20)]: 1 },
    { id: 'two', title: 'Two\nlines' },
    { id: 'x'.repeat(200) },
  ])
  await gatehouse.signIn(page, ARTICLES)
  await expect(page.getByRole('rowheader')).toHaveCount(3)
  const heights = await page
    .locator('[data-row]')
    .evaluateAll((rows) => rows.map((row) => row.getBoundingClientRect().height))
  expect(new Set(heights).size).toBe(1)
  const text = page.getByText(title)
  // The end of the text is cut, which is at the left.
  await expect(text).toHaveCSS('direction', 'rtl')
  await page.setViewportSize({ width: 320, height: 640 })
  await expect(page.getByRole('list', { name: 'Documents of articles' })).toBeVisible()
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(320)
  // A long id does not narrow the target.
  const widths = await page
    .locator('li label:has(input[type=checkbox])')
    .evaluateAll((labels) => labels.map((label) => label.getBoundingClientRect().width))
  expect(new Set(widths)).toEqual(new Set([24]))
})

test('A filter that the server rejects is reported at the filter, and corrected as text', async ({
  page,
  gatehouse,
  browserErrors,
}) => {
  browserErrors.allow(/^http 400 GET .*\/_db\/blog\/articles/)
  await makeBlog(gatehouse, [{ id: 'one', year: 2001 }])
  await gatehouse.signIn(page, `${ARTICLES}?filter=year:above%3D2000`)
  const chip = page.getByRole('button', { name: 'Edit the filter year:above=2000' })
  await expect(chip).toHaveAccessibleDescription(/"above" is not an operator/)
  // Nothing is beside the message, and the text of the button below is aligned with it.
  const alert = page.getByText('"above" is not an operator')
  const [message, add] = [
    await alert.boundingBox(),
    await page.getByRole('button', { name: 'Add filter' }).boundingBox(),
  ]
  if (message === null || add === null) throw new Error('an element is hidden')
  expect(add.y).toBeGreaterThan(message.y)
  expect(add.x).toBeLessThan(message.x)

  await page.goto(`${ARTICLES}?sort=year&cursor=of-another-query`)
  await expect(
    page.getByText('This page belongs to a different filter or sort order.'),
  ).toBeVisible()
  await page.getByRole('button', { name: 'Go to the first page' }).click()
  await expect(page.getByRole('rowheader')).toHaveText(['one'])

  // Without a valid filter, no request may stand for all documents.
  await page.goto(`${ARTICLES}?filter=year&selected=*&bulk=delete`)
  await expect(page.getByRole('textbox', { name: 'Filter' })).toHaveAccessibleDescription(
    /author=ada/,
  )
  await expect(page.getByRole('rowheader')).toHaveCount(0)
  await expect(page.getByRole('button', { name: 'Export' })).toHaveCount(0)
  await expect(page.getByRole('button', { name: 'Next' })).toHaveCount(0)
  await expect(page.getByRole('region', { name: 'Selected documents' })).toHaveCount(0)
  await expect(page.getByRole('dialog')).toHaveCount(0)
  await page.getByRole('button', { name: 'Cancel' }).click()
  await expect(page.getByRole('rowheader')).toHaveText(['one'])
  await expect(page.getByRole('button', { name: 'Add filter' })).toBeFocused()

  await page.goto(`${ARTICLES}?sort=a.%5Cb&filter=year%3D2001`)
  await expect(page.getByText('a backslash must precede')).toBeVisible()
  await page.getByRole('button', { name: 'Clear filters and sorting' }).click()
  await expect(page.getByRole('rowheader')).toHaveText(['one'])
  await page.goto(`${ARTICLES}?filter=year:above%3D2000`)
  await page.getByRole('button', { name: 'More actions' }).click()
  await page.getByRole('menuitem', { name: 'Edit filter as text' }).click()
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

test('A slow query shows what it read, and uses the suggested index once it exists', async ({
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
  // The authors are not unique, so this index fails and serves no query.
  const indexes = '/_db/blog/_index/articles'
  await gatehouse.put(`${indexes}/by-author`, { fields: ['author'], unique: true })
  await expect
    .poll(async () => (await gatehouse.get(indexes)).body)
    .toMatchObject([{ state: 'failed' }])
  const fields = ['author', '-year']
  const tooExpensive = { id: 'query_too_expensive', message: 'Too slow.', fields }
  await page.route(/\/_db\/blog\/articles\?/, (route) =>
    route.fulfill({ status: 422, json: tooExpensive }),
  )
  await gatehouse.signIn(page, `${ARTICLES}?filter=author%3Dada`)
  await expect(page.getByRole('alert').filter({ hasText: 'Too slow.' })).toContainText(
    'Create an index on author and year (descending).',
  )
  await page.unroute(/\/_db\/blog\/articles\?/)
  await page.reload()
  await expect(page.getByText('Scanned 1,200 documents.')).toBeVisible()
  await page.getByRole('button', { name: 'Count documents' }).click()
  await expect(page.getByText('3 documents match.')).toBeVisible()
  await expect(page.locator(':focus')).toContainText('3 documents match.')
  await expect(page).toHaveURL(/count=1/)
  await page.getByRole('button', { name: 'Create index' }).click()
  await expect(page.getByText('Read 3 documents using the index by-author-2.')).toBeVisible()
  await expect(page.getByRole('rowheader')).toHaveText(['d0', 'd400', 'd800'])
})

test('Indexes are created and deleted, and a failed one lists the documents that prevent it and is built again', async ({
  page,
  gatehouse,
  browserErrors,
}) => {
  // Neither collection has a schema.
  browserErrors.allow(/^http 404 GET .*\/_db\/blog\/_schema\//)
  await makeBlog(gatehouse, [
    { id: 'one', author: 'ada', year: 1 },
    { id: 'two', author: 'ada', year: 2 },
  ])
  await gatehouse.post('/_db/blog/notes', { id: 'three' })
  await gatehouse.signIn(page, ARTICLES)
  await expect(page.getByRole('rowheader')).toHaveText(['one', 'two'])
  // The head stays in place on each tab.
  const tab = page.getByRole('link', { name: 'Indexes' })
  const position = await tab.boundingBox()
  await tab.click()
  await expect(page.getByText('No indexes yet.')).toBeVisible()
  expect(await tab.boundingBox()).toEqual(position)
  // On a narrow screen, which has no rail.
  await page.setViewportSize({ width: 900, height: 800 })
  const collection = page.getByRole('combobox', { name: 'Collection' })
  await collection.selectOption('notes')
  await expect(page).toHaveURL(/\/notes\/indexes$/)
  await page.getByRole('link', { name: 'Schema' }).click()
  await collection.selectOption('articles')
  await expect(page).toHaveURL(/\/articles\/schema$/)
  await page.setViewportSize({ width: 1280, height: 720 })
  await tab.click()
  await expect(page.getByText('No indexes yet.')).toBeVisible()
  await page.getByRole('button', { name: 'Create index' }).click()
  const form = dialogOf(page, 'Create index on articles')
  const first = form.getByRole('combobox', { name: 'Field 1', exact: true })
  await expect(first).toBeFocused()
  await page.keyboard.press('Control+Enter')
  await expect(first).toBeFocused()
  await expect(first).toHaveAccessibleDescription(/Choose or enter a field/)
  await first.fill('author')
  await form.getByRole('checkbox', { name: 'Unique' }).check()
  await page.keyboard.press('Control+Enter')
  const row = page.getByRole('row', { name: /^by-author/ })
  await expect(row).toContainText('Failed')
  const duplicates = page.getByRole('list', { name: 'Documents with the same values' })
  await expect(duplicates.getByRole('link')).toHaveText(['one', 'two'])

  await page.getByRole('button', { name: 'Create index' }).click()
  await first.fill('author')
  await form.getByRole('checkbox', { name: 'Unique' }).check()
  await expect(
    form.getByText('The index by-author has this definition and failed. It will be built again.'),
  ).toBeVisible()
  await form.getByRole('button', { name: 'Cancel' }).click()
  await gatehouse.patch('/_db/blog/articles/two', { author: 'bob' })
  await page.getByRole('button', { name: 'Build by-author again' }).click()
  await expect(page.getByRole('region', { name: 'Last change' })).toContainText(
    'Index by-author is being built',
  )
  await expect(row).toContainText('Ready')
  // The button that had the focus is gone.
  await expect(page.getByRole('main')).toBeFocused()
  await row.getByRole('button', { name: 'Delete by-author' }).click()
  const question = dialogOf(page, 'Delete index by-author?')
  await question.getByRole('button', { name: 'Delete index' }).click()
  await expect(page.getByText('No indexes yet.')).toBeVisible()

  await page.getByRole('button', { name: 'Create index' }).click()
  await first.fill('ye')
  await page.getByRole('option', { name: 'year' }).click()
  await form.getByRole('combobox', { name: 'Order of field 1' }).selectOption('Descending')
  await form.getByRole('button', { name: 'Add field' }).click()
  await form.getByRole('combobox', { name: 'Field 2', exact: true }).fill('author')
  await page.keyboard.press('Control+Enter')
  const ordered = page.getByRole('row').filter({ hasText: 'by-year-author' })
  await expect(ordered).toContainText('Ready')
  await expect(ordered.getByRole('cell').first()).toHaveText('year (descending), author')
  expect((await gatehouse.get('/_db/blog/_index/articles')).body).toMatchObject([
    { name: 'by-year-author', fields: ['-year', 'author'], state: 'ready' },
  ])
  await ordered.getByRole('button', { name: 'Delete by-year-author' }).click()
  await expect(dialogOf(page, 'Delete index by-year-author?')).toContainText(
    'The index is on year (descending) and author.',
  )
})
