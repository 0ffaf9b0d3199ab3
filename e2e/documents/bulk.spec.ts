import { readFile } from 'node:fs/promises'
import type { Locator } from '@playwright/test'
import { ARTICLES, dialogOf, makeBlog, replaceOutside } from '../support/page/documents-page.ts'
import { rowOf } from '../support/page/endpoints-page.ts'
import { holdRequests } from '../support/page/hold-requests.ts'
import { pressSequence } from '../support/page/press-sequence.ts'
import { expect, test } from '../support/server/gatehouse.ts'

test('Selected documents are changed with a preview and deleted, and both can be undone', async ({
  page,
  gatehouse,
  browserErrors,
}) => {
  browserErrors.allow(/^http 412 (?:PATCH|DELETE) .*\/_db\/blog\/articles\/\?id=d[24]$/)
  browserErrors.allow(/^http 404 .*\/_db\/blog\/articles\/\?id=d4$/)
  browserErrors.allow(/^request failed PUT .*\/_db\/blog\/articles\/\?id=d[13]:/)
  await makeBlog(
    gatehouse,
    Array.from({ length: 60 }, (_, at) => ({ id: `d${at}`, author: { name: 'ada' }, n: at })),
  )
  await gatehouse.signIn(page, `${ARTICLES}?sort=n`)
  const select = (id: string) => page.getByRole('checkbox', { name: `Select ${id}`, exact: true })
  const bar = page.getByRole('region', { name: 'Selected documents' })
  const last = page.getByRole('region', { name: 'Last change' })
  await select('d1').check()
  await select('d3').click({ modifiers: ['Shift'] })
  await expect(bar).toContainText('3 selected')
  await expect(page).toHaveURL(/selected=d1%2Cd2%2Cd3$/)
  await page.reload()
  await expect(bar).toContainText('3 selected')
  await bar.getByRole('button', { name: 'Edit' }).click()
  const form = dialogOf(page, 'Edit 3 documents')
  await expect(form).toBeVisible()
  await expect(page).toHaveURL(/bulk=edit$/)
  await page.goBack()
  await expect(form).toBeHidden()
  await page.goForward()
  const patch = form.getByRole('textbox', { name: 'Changes as JSON' })
  await patch.fill('{ "id": "d9" }')
  await page.keyboard.press('Control+Enter')
  await expect(form.getByText('The id cannot be changed.')).toBeVisible()
  await patch.fill('{ "author": { "id": 9 } ')
  await page.keyboard.press('Control+Enter')
  await expect(form.getByText('Invalid JSON')).toBeVisible()
  await expect(form.getByText('The id cannot be changed.')).toBeHidden()
  await patch.fill('{ "author": { "born": 1815 }, "n": null }')
  await expect(form.getByText('3 of 3 documents will change.')).toBeVisible()
  const [now, after] = [
    form.getByRole('region', { name: 'd1 now' }),
    form.getByRole('region', { name: 'd1 after the change' }),
  ]
  await expect(now.locator('mark')).toHaveText('  "n": 1')
  await expect(after.locator('mark')).toHaveText('    "born": 1815')
  await replaceOutside(gatehouse, 'd2', { n: 'theirs' })
  await page.keyboard.press('Control+Enter')
  await expect(last).toContainText('2 documents changed, 1 document could not be changed')
  await expect(last).toContainText('d2 Someone changed it.')
  await expect(bar).toContainText('1 selected')
  await expect(page).toHaveURL(/\?sort=n&selected=d2$/)
  expect(await overlaps(last, bar)).toBe(false)
  const read = async (id: string) => (await gatehouse.get(`/_db/blog/articles/${id}`)).body
  expect(await read('d1')).toEqual({ id: 'd1', author: { name: 'ada', born: 1815 } })
  expect(await read('d2')).toEqual({ id: 'd2', n: 'theirs' })
  // An undo that fails can be repeated.
  await page.route(/\/articles\/\?id=d[13]$/, (route) => route.abort(), { times: 2 })
  await last.getByRole('button', { name: 'Undo' }).click()
  await expect(last).toContainText('2 documents may or may not have been restored')
  await last.getByRole('button', { name: 'Undo again' }).click()
  await expect(last).toContainText('2 documents restored')
  expect(await read('d3')).toEqual({ id: 'd3', author: { name: 'ada' }, n: 3 })

  await select('d0').check()
  await select('d4').check()
  await bar.getByRole('button', { name: 'Delete' }).click()
  const question = dialogOf(page, 'Delete 3 documents?')
  await expect(question).toContainText('"theirs"')
  // A document that someone else deleted first is neither counted nor restored.
  await gatehouse.delete('/_db/blog/articles/d4')
  const held = await holdRequests(page, /\/articles\/\?id=d\d$/)
  await question.getByRole('button', { name: 'Delete documents' }).click()
  await expect(question.getByRole('button', { name: 'Deleting…' })).toBeFocused()
  held.release()
  await expect(last).toContainText('2 documents deleted, 1 document no longer exists')
  expect(await read('d2')).toMatchObject({ id: 'not_found' })
  await expect(select('d0')).toBeHidden()
  await expect(page.getByRole('main')).toBeFocused()
  await page.keyboard.press('Control+z')
  await expect(last).toContainText('2 documents restored')
  expect(await read('d2')).toEqual({ id: 'd2', n: 'theirs' })
  expect(await read('d4')).toMatchObject({ id: 'not_found' })
  await expect(select('d0')).toBeVisible()
  await page.keyboard.press('?')
  await expect(dialogOf(page, 'Keyboard shortcuts')).toContainText('Undo the last changeCtrlZ')
  await page.keyboard.press('Escape')
  await gatehouse.post('/_db/blog/articles', { id: 'd4' })

  await page.getByRole('checkbox', { name: 'Select all documents of this page' }).check()
  await bar.getByRole('button', { name: 'Select all documents' }).click()
  await expect(bar).toContainText('All documents are selected')
  await bar.getByRole('button', { name: 'Edit' }).click()
  await page.getByRole('textbox', { name: 'Changes as JSON' }).fill('{ "seen": true }')
  const matching = dialogOf(page, 'Edit documents in articles')
  await expect(matching).toContainText(
    'All 60 documents of the collection will be changed, on all pages.',
  )
  await expect(matching).toContainText('This cannot be undone.')
  await expect(matching.getByRole('region', { name: 'Preview of d0' })).toContainText('"seen"')
  const name = matching.getByRole('textbox', { name: 'Type articles to change its documents' })
  await page.keyboard.press('Control+Enter')
  await expect(name).toBeFocused()
  await expect(name).toHaveAccessibleDescription(/Type articles exactly as shown/)
  expect(await read('d59')).not.toMatchObject({ seen: true })
  await name.fill('articles')
  await page.keyboard.press('Control+Enter')
  await expect(dialogOf(page, 'Documents changed')).toContainText(
    '60 documents of articles were changed.',
  )
  expect(await read('d59')).toMatchObject({ seen: true })
})

test('A change of documents can be undone on every page', async ({
  page,
  gatehouse,
  browserErrors,
}) => {
  browserErrors.allow(/^http 404 GET .*\/_schema\/articles$/)
  await makeBlog(gatehouse, [{ id: 'one' }, { id: 'two' }])
  await page.clock.install()
  await gatehouse.signIn(page, `${ARTICLES}?remove=one`)
  const bar = page.getByRole('region', { name: 'Last change' })
  await page.getByRole('button', { name: 'Delete document' }).click()
  await expect(bar).toHaveText('1 document deletedUndo')
  for (const name of ['Indexes', 'Schema']) {
    const tab = page.getByRole('link', { name, exact: true })
    await tab.click()
    await expect(tab).toHaveAttribute('aria-current', 'page')
    await expect(bar).toHaveText('1 document deletedUndo')
    await expect(page.getByRole('main')).toBeFocused()
  }
  await pressSequence(page, 'g', 'e')
  await expect(page.getByRole('heading', { name: 'Endpoints' })).toBeVisible()
  await expect(bar).toHaveText('1 document deletedUndo')

  // The undo continues on another page, and its outcome is announced there.
  const held = await holdRequests(page, /\/articles\/\?id=one$/)
  await page.keyboard.press('Control+z')
  await expect(bar.getByRole('button', { name: 'Undoing…' })).toBeVisible()
  await pressSequence(page, 'g', 'd')
  await expect(page.getByRole('heading', { name: 'Data', exact: true })).toBeVisible()
  held.release()
  await expect(page.getByText('1 document restored')).not.toHaveCount(0)
  expect((await gatehouse.get('/_db/blog/articles/one')).body).toEqual({ id: 'one' })

  // The focus in the bar pauses the countdown, also while the page changes.
  await page.goto(`${ARTICLES}?remove=two`)
  await page.getByRole('button', { name: 'Delete document' }).click()
  const undo = bar.getByRole('button', { name: 'Undo' })
  await undo.focus()
  await page.clock.fastForward(11_000)
  await pressSequence(page, 'g', 'e')
  await expect(page.getByRole('heading', { name: 'Endpoints' })).toBeVisible()
  await expect(undo).toBeFocused()
  await page.getByRole('main').focus()
  await page.clock.fastForward(11_000)
  await expect(bar).toBeHidden()
})

test('Ctrl Z undoes the newest change of documents and endpoints', async ({ page, gatehouse }) => {
  await makeBlog(gatehouse, [{ id: 'one' }])
  const endpoint = `tcp://127.0.0.1:${await gatehouse.freePort()}`
  await gatehouse.post('/_db/_system/_api/endpoint', { endpoint, databases: ['blog'] })
  await gatehouse.signIn(page, `${ARTICLES}?remove=one`)
  const toast = page.getByRole('region', { name: 'Last change' })
  const deleteDocument = async () => {
    await page.getByRole('button', { name: 'Delete document' }).press('Enter')
    await expect(toast).toContainText('1 document deleted')
  }
  const removeEndpoint = async () => {
    await pressSequence(page, 'g', 'e')
    await rowOf(page, endpoint).press('Delete')
    await page.getByRole('button', { name: 'Remove endpoint' }).press('Enter')
    await expect(toast).toContainText(`${endpoint} removed`)
  }

  await deleteDocument()
  await removeEndpoint()
  await page.keyboard.press('Control+z')
  await expect(toast).toContainText(`${endpoint} restored`)
  expect((await gatehouse.get('/_db/blog/articles/one')).status).toBe(404)

  await gatehouse.post('/_db/blog/articles', { id: 'one' })
  await removeEndpoint()
  await pressSequence(page, 'g', 'd')
  await page.getByRole('link', { name: 'blog', exact: true }).first().press('Enter')
  await page.getByRole('link', { name: 'articles', exact: true }).first().press('Enter')
  await page.getByRole('row', { name: 'one' }).press('Delete')
  await page.getByRole('button', { name: 'Delete document' }).press('Enter')
  await expect(toast).toContainText('1 document deleted')
  await page.keyboard.press('Control+z')
  await expect(toast).toContainText('1 document restored')
  expect((await gatehouse.get('/_db/_system/_api/endpoint')).body).not.toContainEqual(
    expect.objectContaining({ endpoint }),
  )
})

test('The preview of a change scrolls to the first line that changes', async ({
  page,
  gatehouse,
}) => {
  const fields = Array.from({ length: 80 }, (_, at) => [`field${at}`, at])
  await makeBlog(gatehouse, [{ id: 'long', ...Object.fromEntries(fields) }])
  await gatehouse.signIn(page, `${ARTICLES}?selected=long&bulk=edit`)
  const form = dialogOf(page, 'Edit 1 document')
  const patch = form.getByRole('textbox', { name: 'Changes as JSON' })
  const now = form.getByRole('region', { name: 'long now' })
  const after = form.getByRole('region', { name: 'long after the change' })
  for (const field of ['field70', 'field5']) {
    await patch.fill(`{ "${field}": "changed" }`)
    await expect(after.locator('mark')).toContainText('"changed"')
    await after.scrollIntoViewIfNeeded()
    await expect(now.locator('mark')).toBeInViewport({ ratio: 1 })
    await expect(after.locator('mark')).toBeInViewport({ ratio: 1 })
  }
})

test('On a phone, the actions for selected documents are in one line and a menu', async ({
  page,
  gatehouse,
}) => {
  await makeBlog(
    gatehouse,
    Array.from({ length: 60 }, (_, at) => ({ id: `d${at}` })),
  )
  // The menu covers no part of a row, which axe would report as a small target.
  await page.setViewportSize({ width: 375, height: 792 })
  await gatehouse.signIn(page, ARTICLES)
  const bar = page.getByRole('region', { name: 'Selected documents' })
  await page.getByRole('checkbox', { name: 'Select d1', exact: true }).check()
  await expect(bar).toContainText('1 selected')
  const more = bar.getByRole('button', { name: 'More actions' })
  const middleOf = async (button: Locator) => {
    const { y, height } = (await button.boundingBox()) ?? { y: Number.NaN, height: 0 }
    return y + height / 2
  }
  for (const name of ['Clear selection', 'Edit', 'Delete']) {
    expect(await middleOf(bar.getByRole('button', { name }))).toBeCloseTo(await middleOf(more), 0)
  }
  await more.press('Enter')
  const all = page.getByRole('menuitem', { name: 'Select all documents' })
  await expect(all).toBeFocused()
  await expect(all).toBeInViewport({ ratio: 1 })
  await page.keyboard.press('Enter')
  await expect(bar).toContainText('All documents are selected')
  // The menu has no other action and is gone.
  await expect(bar).toBeFocused()
  await bar.getByRole('button', { name: 'Clear selection' }).click()
  await expect(bar).toBeHidden()
})

/** Returns whether two elements cover each other. */
async function overlaps(one: Locator, other: Locator): Promise<boolean> {
  const [a, b] = [await one.boundingBox(), await other.boundingBox()]
  if (a === null || b === null) throw new Error('an element is hidden')
  return a.y < b.y + b.height && b.y < a.y + a.height
}

test('The documents that match are exported, and their request is copied', async ({
  page,
  context,
  gatehouse,
  browserErrors,
}) => {
  browserErrors.allow(/^http 422 GET .*export-as=csv/)
  await makeBlog(gatehouse, [
    { id: 'one', author: 'ada', year: 1 },
    { id: 'two', author: 'grace', year: 2 },
    { id: 'three', author: 'ada', year: 3 },
  ])
  await context.grantPermissions(['clipboard-read', 'clipboard-write'])
  await gatehouse.signIn(page, `${ARTICLES}?filter=author%3Dada&sort=-year`)
  const menu = page.getByRole('button', { name: 'Export' })
  const requests: string[] = []
  page.on('request', (request) => {
    const format = new URL(request.url()).searchParams.get('export-as')
    if (format !== null) requests.push(format)
  })
  const exported = async (format: string) => {
    const download = page.waitForEvent('download')
    await menu.click()
    // The second click is on the menu while it fades.
    await page.getByRole('menuitem', { name: format, exact: true }).dblclick()
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
  expect(requests).toEqual(['ndjson', 'json', 'csv'])

  const tooExpensive = { id: 'query_too_expensive', message: 'Too slow.', fields: ['year'] }
  await page.route(/export-as=csv/, (route) => route.fulfill({ status: 422, json: tooExpensive }))
  await menu.click()
  await page.getByRole('menuitem', { name: 'CSV', exact: true }).click()
  const failed = page.getByRole('region', { name: 'Export' })
  await expect(failed).toContainText('articles was not exported. Too slow.')
  await expect(failed).toContainText('Create an index on year.')
  await failed.getByRole('button', { name: 'Close' }).click()
  await expect(failed).toBeHidden()

  await menu.click()
  await page.getByRole('menuitem', { name: 'Copy as curl' }).click()
  const copied = () => page.evaluate(() => navigator.clipboard.readText())
  await expect.poll(copied).toMatch(/^curl .*\/_db\/blog\/articles\?author=ada&sort=-year'$/)
  const copiedItem = page.getByRole('menuitem', { name: 'Copied', exact: true })
  await expect(copiedItem).toBeVisible()
  await page.keyboard.press('Escape')
  await expect(copiedItem).toBeHidden()
  await expect(menu).toBeFocused()
  await menu.click()
  await page.getByRole('menuitem', { name: 'Copy as fetch' }).press('Enter')
  await expect(copiedItem).toBeFocused()
  await expect.poll(copied).toMatch(/^const response = await fetch\(/)
  // The copied code runs in any program that has a token.
  const read = new Function(
    'token',
    `return (async () => { ${await copied()}; return documents })()`,
  )
  expect(await read(await gatehouse.token())).toEqual([JSON.parse(three), JSON.parse(one)])
})

test('Documents are imported from text and from a file, filtered by several fields and deleted', async ({
  page,
  gatehouse,
  browserErrors,
}) => {
  browserErrors.allow(/^http 422 POST .*\/_db\/blog\/articles/)
  await makeBlog(gatehouse, [{ id: 'd1', kind: 'stored' }])
  await gatehouse.signIn(page, ARTICLES)
  await page.getByRole('button', { name: 'Import' }).click()
  const form = dialogOf(page, 'Import documents into articles')
  const start = form.getByRole('button', { name: 'Import documents' })
  await start.click()
  await expect(form.getByText('Choose a file, or paste documents.')).toBeVisible()
  await form.getByLabel('Or paste documents').fill('id,kind,n\nd1,1,1\nnew,1,two\n"d\n3",a,"x')
  await expect(form.getByLabel('Format')).toContainText('Detected: CSV')
  await expect(form.getByRole('columnheader', { name: 'n number, text' })).toBeVisible()
  const problem = form.getByText('Line 4: A quoted cell has no closing quote.')
  await expect(problem).toBeVisible()
  const table = await form.getByRole('region', { name: 'Preview' }).getByRole('table').boundingBox()
  const bottom = (table?.y ?? Number.NaN) + (table?.height ?? 0)
  expect((await problem.boundingBox())?.y).toBeGreaterThanOrEqual(bottom + 8)
  await start.click()
  await expect(form.getByText('1 created, 2 failed.').first()).toBeVisible()
  const errors = form.getByRole('list', { name: 'Errors' })
  await expect(errors.getByRole('listitem').first()).toContainText('Line 2 /id: ')
  const download = page.waitForEvent('download')
  await form.getByRole('button', { name: 'Download errors' }).click()
  const file = await readFile(await (await download).path(), 'utf8')
  expect(file).toMatch(/^line,pointer,message\r\n2,"\/id",/)
  await form.getByRole('button', { name: 'Close' }).last().click()
  await expect(page.getByRole('rowheader')).toHaveText(['d1', 'new'])

  // Spreadsheets separate cells with tabs or, in many countries, with semicolons.
  await page.getByRole('button', { name: 'Import' }).click()
  await form.getByLabel('Or paste documents').fill('id\tkind')
  await expect(form.getByLabel('Format')).toContainText('Detected: Tab-separated values')
  // Every object of JavaScript has a property with this name.
  await form.getByLabel('Or paste documents').fill('{"constructor": "Lotus"}\n{"year": 1962}')
  await expect(form.getByRole('columnheader')).toHaveText(['constructortext', 'yearnumber'])
  await expect(form.getByRole('cell')).toHaveText(['Lotus', '–', '–', '1962'])
  await form.getByLabel('Or paste documents').fill('sku,kind\np-7,1')
  await form.getByLabel('Id', { exact: true }).selectOption('Column sku')
  await expect(form.getByRole('columnheader')).toHaveText(['idtext', 'kindnumber'])
  await form.getByLabel('Or paste documents').fill('id;kind;code\nprice;3,50;12E4\nnone;;A1')
  await expect(form.getByLabel('Format')).toContainText('Detected: CSV with semicolons')
  await expect(form.getByRole('cell', { name: '3,50' })).toBeVisible()
  const warning = form.getByText('Columns with mixed types: code (number, text).')
  await expect(warning).toBeVisible()
  await form.getByLabel('Cells').selectOption('Text only')
  await expect(warning).toBeHidden()
  await start.click()
  await expect(form.getByText('2 created.').first()).toBeVisible()
  expect((await gatehouse.get('/_db/blog/articles/price')).body).toEqual({
    id: 'price',
    kind: '3,50',
    code: '12E4',
  })
  await form.getByRole('button', { name: 'Close' }).last().click()

  const many = Array.from({ length: 1_200 }, (_, n) => ({ id: `d${n}`, kind: n % 2, n: n % 3 }))
  await page.getByRole('button', { name: 'Import' }).click()
  const chooser = page.waitForEvent('filechooser')
  await form.getByRole('button', { name: 'File' }).click()
  const buffer = Buffer.from(JSON.stringify(many, null, 2))
  await (await chooser).setFiles({ name: 'a.json', mimeType: 'application/json', buffer })
  await form.getByLabel('If the id exists').selectOption('Replace the stored document')
  await expect(form.getByRole('cell', { name: 'd0' })).toBeVisible()
  await page.route(/on-conflict=replace$/, () => {})
  await page.keyboard.press('Control+Enter')
  const cancel = form.getByRole('button', { name: 'Cancel import', exact: true })
  await expect(cancel).toBeFocused()
  // Closing the dialog would cancel the import, so it asks.
  const keep = form.getByRole('button', { name: 'Keep importing' })
  await page.keyboard.press('Escape')
  await expect(keep).toBeFocused()
  await expect(keep).toHaveAccessibleDescription('Closing this dialog cancels the import.')
  await expect(form.getByText('Closing this dialog')).toHaveCSS('padding-left', '12px')
  await page.keyboard.press('Escape')
  await expect(cancel).toBeFocused()
  await page.goBack()
  await keep.click()
  await cancel.click()
  await expect(form.getByText('The import was cancelled.')).toBeVisible()
  await page.keyboard.press('Control+Enter')
  await form.getByRole('button', { name: 'Close', exact: true }).click()
  const cancelled = page.waitForEvent('requestfailed')
  await form.getByRole('button', { name: 'Cancel import and close' }).click()
  await expect(form).toBeHidden()
  expect((await cancelled).url()).toContain('on-conflict=replace')
  await page.unroute(/on-conflict=replace$/)
  await page.getByRole('button', { name: 'Import' }).click()
  await form.getByLabel('Or paste documents').fill('id,id')
  await start.click()
  await expect(form.getByText(/^The header is invalid\. .* Nothing was imported\.$/)).toBeVisible()
  await expect(form.getByText('The header is invalid.')).toHaveCount(1)
  await form.getByLabel('Or paste documents').fill('')
  const wrong = page.waitForEvent('filechooser')
  await form.getByRole('button', { name: 'File' }).click()
  await (await wrong).setFiles({ name: 'b.json', mimeType: 'application/json', buffer })
  await form.getByRole('button', { name: 'Remove the file' }).press('Enter')
  await expect(form.getByLabel('Or paste documents')).toBeVisible()
  await expect(page.locator('[role="dialog"]:focus-within, [role="dialog"]:focus')).toBeVisible()
  const rechosen = page.waitForEvent('filechooser')
  await form.getByRole('button', { name: 'File' }).click()
  await (await rechosen).setFiles({ name: 'a.json', mimeType: 'application/json', buffer })
  await form.getByLabel('If the id exists').selectOption('Replace the stored document')
  await expect(form.getByRole('cell', { name: 'd0' })).toBeVisible()
  await page.keyboard.press('Control+Enter')
  await expect(form.getByText('1,199 created, 1 replaced.').first()).toBeVisible()
  await form.getByRole('button', { name: 'Close' }).last().click()
  await expect(page.getByRole('rowheader')).toHaveCount(50)

  await page.goto(`${ARTICLES}?filter=id%3Dd7%26kind%3D1`)
  await expect(page.getByRole('rowheader')).toHaveText(['d7'])
  await page.goto(`${ARTICLES}/d9`)
  await expect(dialogOf(page, 'Document d9')).toContainText('"kind": 1')

  await page.goto(ARTICLES)
  await expect(page.getByRole('rowheader')).toHaveCount(50)
  await gatehouse.post('/_db/blog/articles', { id: 'theirs' })
  await page.getByRole('button', { name: 'More actions' }).click()
  await page.getByRole('menuitem', { name: 'Delete all documents' }).click()
  const question = dialogOf(page, 'Delete all documents in articles?')
  await expect(question).toContainText('All 1,204 documents of the collection will be deleted')
  await question.getByRole('button', { name: 'Delete all documents' }).click()
  await expect(question.getByRole('textbox')).toHaveAccessibleDescription(
    /Type articles exactly as shown to delete/,
  )
  await question.getByRole('textbox').fill('articles')
  await page.keyboard.press('Enter')
  const deleting = dialogOf(page, 'Documents deleted')
  await expect(deleting).toContainText('1,204 documents of articles were deleted.')
  expect((await gatehouse.get('/_db/blog/articles')).body).toEqual([])

  // A collection is created with its first documents.
  await gatehouse.post('/_db/blog/articles', { id: 'd1' })
  await page.goto('/_console/data/blog')
  await page.getByRole('button', { name: 'Import' }).click()
  await page.getByRole('menuitem', { name: 'Documents' }).click()
  const books = dialogOf(page, 'Import documents')
  await expect(books.getByRole('combobox', { name: 'Collection' })).toBeFocused()
  await page.keyboard.press('Control+Enter')
  await expect(books.getByRole('combobox', { name: 'Collection' })).toHaveAccessibleDescription(
    /begins with a lowercase/,
  )
  await books.getByRole('combobox', { name: 'Collection' }).fill('art')
  await books.getByRole('option', { name: 'articles', exact: true }).click()
  await expect(books.getByRole('combobox', { name: 'Collection' })).toHaveValue('articles')
  await books.getByRole('combobox', { name: 'Collection' }).fill('books')
  await books.getByLabel('Or paste documents').fill('{\n  "id": "b1"\n}\n{\n  "id": "b2"\n}')
  await expect(books.getByLabel('Format')).toContainText('Detected: JSON')
  await expect(books.getByRole('cell', { name: 'b2' })).toBeVisible()
  await page.keyboard.press('Control+Enter')
  await expect(books.getByText('2 created.').first()).toBeVisible()
  await books.getByRole('button', { name: 'Open the 2 documents' }).click()
  await expect(page).toHaveURL(/\/data\/blog\/books\?filter=/)
  await expect(page.getByRole('rowheader')).toHaveText(['b1', 'b2'])
})

test('An import that only created documents is undone, and its documents are opened', async ({
  page,
  gatehouse,
  browserErrors,
}) => {
  browserErrors.allow(/^http 412 DELETE .*\/_db\/blog\/articles\/\?id=p60$/)
  await makeBlog(gatehouse, [{ id: 'a' }, { id: 'z' }])
  await gatehouse.signIn(page, `${ARTICLES}?import=1`)
  const form = dialogOf(page, 'Import documents into articles')
  const toast = page.getByRole('region', { name: 'Last change' })
  const rows = Array.from({ length: 60 }, (_, at) => `p${at + 1},2026`)
  const load = async () => {
    await form.getByLabel('Or paste documents').fill(['id,year', ...rows].join('\n'))
    await page.keyboard.press('Control+Enter')
    await expect(toast).toContainText('60 documents created')
  }
  await load()
  await form.getByRole('button', { name: 'Open the 60 documents' }).click()
  await expect(form).toBeHidden()
  await expect(page.getByRole('button', { name: 'Edit the filter id is at most p9' })).toBeVisible()
  await expect(page.getByRole('rowheader').first()).toHaveText('p1')
  await page.getByRole('button', { name: 'Next' }).click()
  await expect(page.getByRole('rowheader')).toHaveCount(10)

  // A document that someone changed stays.
  await replaceOutside(gatehouse, 'p60', { title: 'Theirs' })
  await page.keyboard.press('Control+z')
  await expect(toast).toContainText('59 documents deleted, 1 document could not be deleted')
  await expect(toast).toContainText('p60 Someone changed it.')
  const ids = async () =>
    ((await gatehouse.get('/_db/blog/articles')).body as { id: string }[]).map(({ id }) => id)
  expect(await ids()).toEqual(['a', 'p60', 'z'])

  await gatehouse.delete('/_db/blog/articles/p60')
  await page.goto(`${ARTICLES}?import=1`)
  await load()
  await toast.getByRole('button', { name: 'Undo' }).click()
  await expect(toast).toContainText('60 documents deleted')
  await page.keyboard.press('Escape')
  await expect(page.getByRole('rowheader')).toHaveText(['a', 'z'])
})
