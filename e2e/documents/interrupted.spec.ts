import type { Page } from '@playwright/test'
import {
  ARTICLES,
  dialogOf,
  editorOf,
  makeBlog,
  replaceOutside,
} from '../support/page/documents-page.ts'
import { holdRequests } from '../support/page/hold-requests.ts'
import { expect, test } from '../support/server/gatehouse.ts'

// Tests changes of several documents that cannot be completed at once.

const many = Array.from({ length: 12 }, (_, at) => ({ id: `d${String(at).padStart(2, '0')}` }))
/** Number of documents of an import that is cancelled. It would take half a minute. */
const IMPORTED = 5_000_000

const bar = (page: Page) => page.getByRole('region', { name: 'Selected documents' })
const last = (page: Page) => page.getByRole('region', { name: 'Last change' })
const patch = (page: Page) => page.getByRole('textbox', { name: 'Changes as JSON' })
const selectPage = (page: Page) =>
  page.getByRole('checkbox', { name: 'Select all documents of this page' }).check()

/** Selects the 12 documents and fills in their change. */
async function fillPatch(page: Page): Promise<void> {
  await selectPage(page)
  await bar(page).getByRole('button', { name: 'Edit' }).click()
  await patch(page).fill('{ "seen": true }')
  await expect(page.getByText('12 of 12 documents will change.')).toBeVisible()
}

test('A change of several documents stops when the network is gone, and can be completed later', async ({
  page,
  gatehouse,
  browserErrors,
}) => {
  browserErrors.allow(/^request failed PATCH/)
  await makeBlog(gatehouse, many)
  const held = Promise.withResolvers<void>()
  let requests = 0
  // Before the page is opened: Chromium may not intercept requests that follow at once.
  await page.route(/\/articles\/\?id=d\d+$/, async (route) => {
    if (route.request().method() !== 'PATCH') return route.continue()
    const turn = ++requests
    await held.promise
    return turn === 1 ? route.continue() : route.abort('internetdisconnected')
  })
  await gatehouse.signIn(page, ARTICLES)
  await fillPatch(page)
  const form = dialogOf(page, 'Edit 12 documents')
  await page.keyboard.press('Control+Enter')
  await expect.poll(() => requests).toBeGreaterThan(1)
  // The dialog stays until the outcome is known.
  await page.keyboard.press('Escape')
  await page.goBack()
  await expect(form).toBeVisible()
  held.resolve()
  await expect(last(page)).toContainText(
    /1 document changed, \d documents may or may not have been changed, \d documents could not be changed/,
  )
  await expect(last(page)).toContainText(
    'Gatehouse did not respond. The change may have been made.',
  )
  await expect(last(page)).not.toContainText('Not attempted.')
  expect(requests).toBeLessThan(12)
  await expect(bar(page)).toContainText('11 selected')

  await page.unroute(/\/articles\/\?id=d\d+$/)
  await bar(page).getByRole('button', { name: 'Edit' }).click()
  const again = dialogOf(page, 'Edit 11 documents')
  await again.getByRole('button', { name: 'Restore' }).click()
  await expect(again.getByText('11 of 11 documents will change.')).toBeVisible()
  await page.keyboard.press('Control+Enter')
  await expect(last(page)).toContainText('11 documents changed')
  expect((await gatehouse.get('/_db/blog/articles?seen=true')).body).toHaveLength(12)
})

test('Documents that cannot be loaded are not changed, and the form says so', async ({
  page,
  gatehouse,
  browserErrors,
}) => {
  browserErrors.allow(/^http 403 GET /)
  await makeBlog(gatehouse, [{ id: 'd1' }, { id: 'd2' }])
  await gatehouse.signIn(page, `${ARTICLES}?selected=d1,d2`)
  await page.route(/\/articles\/\?id=d2$/, (route) =>
    route.fulfill({ status: 403, json: { id: 'forbidden', message: 'A proxy rejected it.' } }),
  )
  await bar(page).getByRole('button', { name: 'Edit' }).click()
  const form = dialogOf(page, 'Edit 2 documents')
  await expect(form.getByText('A proxy rejected it.')).toBeVisible()
  await patch(page).fill('{ "seen": true }')
  await form.getByRole('button', { name: 'Change documents' }).click()
  await expect(form.getByText('The documents are not loaded yet.')).toBeVisible()
  await page.unroute(/\/articles\/\?id=d2$/)
  await form.getByRole('button', { name: 'Try again' }).click()
  await expect(form.getByText('2 of 2 documents will change.')).toBeVisible()
  await page.keyboard.press('Control+Enter')
  await expect(last(page)).toContainText('2 documents changed')
})

test('A session that ends during a change or an import loses neither input nor selection', async ({
  page,
  context,
  gatehouse,
  browserErrors,
}) => {
  browserErrors.allow(/^http 401 /)
  await makeBlog(gatehouse, many)
  await gatehouse.signIn(page, ARTICLES)
  await fillPatch(page)
  await context.clearCookies()
  await page.keyboard.press('Control+Enter')
  await expect(last(page)).toContainText('12 documents could not be changed')
  await expect(last(page).getByRole('button', { name: 'Show all 12' })).toBeVisible()
  await expect(page.getByText('Your input is kept.').first()).toBeVisible()
  await gatehouse.signIn(page, page.url())
  await expect(bar(page)).toContainText('12 selected')
  await bar(page).getByRole('button', { name: 'Edit' }).click()
  await page.getByRole('button', { name: 'Restore' }).click()
  await expect(page.getByText('12 of 12 documents will change.')).toBeVisible()
  await page.keyboard.press('Control+Enter')
  await expect(last(page)).toContainText('12 documents changed')

  await page.getByRole('button', { name: 'Import' }).click()
  const form = dialogOf(page, 'Import documents into articles')
  await form.getByLabel('Or paste documents').fill('id\nnew')
  await context.clearCookies()
  await page.keyboard.press('Control+Enter')
  await expect(form.getByText('To continue, import again')).toContainText(
    'You are signed out. Sign in again.',
  )
  await gatehouse.signIn(page, page.url())
  await form.getByRole('button', { name: 'Restore' }).click()
  await expect(form.getByLabel('Or paste documents')).toHaveValue('id\nnew')
  await page.keyboard.press('Control+Enter')
  await expect(form.getByText('1 created.').first()).toBeVisible()
})

test('A database that someone drops during a change is reported, and the input is kept', async ({
  page,
  gatehouse,
  browserErrors,
}) => {
  browserErrors.allow(/^http 404 /)
  await makeBlog(gatehouse, many)
  await gatehouse.signIn(page, ARTICLES)
  await fillPatch(page)
  expect((await gatehouse.delete('/_db/_system/_api/database/blog')).status).toBe(200)
  await page.keyboard.press('Control+Enter')
  await expect(last(page)).toContainText('12 documents could not be changed')
  await expect(last(page)).toContainText('The database does not exist. It may have been dropped.')
  await expect(
    page.getByText('There is no database blog. It may have been dropped.').first(),
  ).toBeVisible()
  await expect(page.getByRole('rowheader')).toHaveCount(0)

  await makeBlog(gatehouse, many)
  await page.reload()
  await expect(bar(page)).toContainText('12 selected')
  await bar(page).getByRole('button', { name: 'Edit' }).click()
  await page.getByRole('button', { name: 'Restore' }).click()
  await expect(patch(page)).toContainText('"seen": true')
})

test('A page of a database that is dropped in another tab says so without a click', async ({
  page,
  gatehouse,
  browserErrors,
}) => {
  browserErrors.allow(/^http 404 /)
  await makeBlog(gatehouse, many)
  await gatehouse.signIn(page, ARTICLES)
  await expect(page.getByRole('rowheader')).toHaveCount(12)
  await gatehouse.delete('/_db/_system/_api/database/blog')
  await expect(
    page.getByText('There is no database blog. It may have been dropped.').first(),
  ).toBeVisible()
  await expect(page.getByRole('rowheader')).toHaveCount(0)
})

test('The page reports that the progress of a job could not be loaded', async ({
  page,
  gatehouse,
  browserErrors,
}) => {
  browserErrors.allow(/^request failed GET .*\/_job\/one/)
  await makeBlog(gatehouse, many)
  const [kind, state, created, updated] = ['patch', 'running', '', '']
  const counts = { done: 3, total: 12, found: 3, failure: null }
  const job = { id: 'one', collection: 'articles', kind, state, ...counts, created, updated }
  let isReachable = true
  await page.route(/_job\/one/, (route) =>
    isReachable ? route.fulfill({ status: 206, json: job }) : route.abort('internetdisconnected'),
  )
  await gatehouse.signIn(page, `${ARTICLES}?job=one`)
  const dialog = dialogOf(page, 'Changing documents')
  await expect(dialog).toContainText('3 of 12 documents of articles processed.')
  const unknown = dialog.getByText('The progress could not be loaded. Gatehouse did not respond.')
  await expect(unknown).toBeHidden()
  isReachable = false
  await expect(unknown).toBeVisible()
  isReachable = true
  await expect(unknown).toBeHidden()
})

test('The list shows the result of a job whose dialog was closed before it ended', async ({
  page,
  gatehouse,
}) => {
  await makeBlog(gatehouse, many)
  const [kind, created, updated] = ['patch', '', '']
  const counts = { total: 12, found: 12, failure: null }
  const job = { id: 'one', collection: 'articles', kind, ...counts, created, updated }
  let hasEnded = false
  await page.route(/_job\/one/, (route) =>
    route.fulfill({
      status: hasEnded ? 200 : 206,
      json: { ...job, state: hasEnded ? 'done' : 'running', done: hasEnded ? 12 : 3 },
    }),
  )
  await gatehouse.signIn(page, `${ARTICLES}?job=one`)
  const dialog = dialogOf(page, 'Changing documents')
  await expect(dialog).toContainText('3 of 12 documents of articles processed.')
  await expect(page.getByRole('rowheader')).toHaveCount(12)
  await dialog.getByRole('button', { name: 'Close' }).last().click()
  await expect(dialog).toBeHidden()
  await gatehouse.post('/_db/blog/articles', { id: 'fresh' })
  hasEnded = true
  await expect(page.getByRole('region', { name: 'Last change' })).toContainText(
    '12 documents of articles were changed.',
  )
  await expect(page.getByRole('rowheader')).toHaveCount(13)
})

test('The list shows the result of a job whose dialog was closed before it began', async ({
  page,
  gatehouse,
}) => {
  await makeBlog(gatehouse, many)
  await gatehouse.signIn(page, `${ARTICLES}?empty=1`)
  await expect(page.getByRole('link', { name: 'd00' })).toBeAttached()
  const held = await holdRequests(page, /\/articles$/)
  const question = dialogOf(page, 'Delete all documents in articles?')
  await question.getByRole('textbox').fill('articles')
  await page.keyboard.press('Enter')
  await held.requested
  await page.keyboard.press('Escape')
  await expect(question).toBeHidden()
  held.release()
  await expect(page.getByRole('region', { name: 'Last change' })).toContainText(
    '12 documents of articles were deleted.',
  )
  await expect(page.getByText('articles contains no documents.')).toBeVisible()
})

test('A job is cancelled, and the page says what was kept', async ({ page, gatehouse }) => {
  await makeBlog(gatehouse, many)
  await gatehouse.signIn(page, ARTICLES)
  const begun = await fetch(`${gatehouse.url}/_db/blog/imported`, {
    method: 'POST',
    headers: {
      Authorization: `Bearer ${await gatehouse.token()}`,
      'Content-Type': 'application/x-ndjson',
      Prefer: 'respond-async',
    },
    body: '{}\n'.repeat(IMPORTED),
  })
  const { id } = (await begun.json()) as { id: string }
  await page.goto(`${ARTICLES}?job=${id}`)
  const dialog = dialogOf(page, 'Importing documents')
  await expect(dialog).toContainText('If you cancel it, documents that are stored by then stay.')
  await dialog.getByRole('button', { name: 'Cancel import' }).click()
  const outcome = dialogOf(page, 'Import cancelled').getByText(
    /^The job was cancelled\. [\d,]+ documents of imported were imported\. Imported documents stay\.$/,
  )
  await expect(outcome.first()).toBeVisible()
  await expect(page.getByRole('button', { name: 'Cancel import' })).toBeHidden()
  const { found } = (await gatehouse.get(`/_db/blog/_job/${id}`)).body as { found: number }
  expect(found).toBeLessThan(IMPORTED)
})

test('A tab that is closed asks first during an import or export, and a job is found again', async ({
  page,
  context,
  gatehouse,
  browserErrors,
}) => {
  browserErrors.allow(/^http 404 GET .*\/articles\/\?id=d\d+$/)
  await makeBlog(gatehouse, many)
  await gatehouse.signIn(page, ARTICLES)
  const tab = await context.newPage()
  const closeTab = async (answer: 'accept' | 'dismiss') => {
    const asked = tab.waitForEvent('dialog')
    await tab.close({ runBeforeUnload: true })
    const question = await asked
    expect(question.type()).toBe('beforeunload')
    await question[answer]()
  }
  await tab.goto(ARTICLES)
  await tab.route(/export-as|on-conflict/, () => {})
  await tab.getByRole('button', { name: 'Export' }).click()
  await tab.getByRole('menuitem', { name: 'CSV', exact: true }).click()
  const progress = tab.getByRole('region', { name: 'Export' })
  await expect(progress).toContainText('Exporting articles…')
  await closeTab('dismiss')
  await progress.getByRole('button', { name: 'Cancel' }).click()
  await expect(progress).toBeHidden()
  await tab.getByRole('button', { name: 'Import' }).click()
  await tab.getByLabel('Or paste documents').fill('id\nd00')
  await tab.keyboard.press('Control+Enter')
  await expect(tab.getByRole('button', { name: 'Cancel import' })).toBeVisible()
  const closed = tab.waitForEvent('close')
  await closeTab('accept')
  await closed

  // Another tab deletes all documents, and is closed.
  await selectPage(page)
  const other = await context.newPage()
  await other.goto(`${ARTICLES}?empty=1`)
  const question = dialogOf(other, 'Delete all documents in articles?')
  await question.getByRole('button', { name: 'Delete all documents' }).click()
  await question.getByRole('textbox').fill('articles')
  await other.keyboard.press('Enter')
  await expect(other).toHaveURL(/job=/)
  const job = other.url()
  await other.close()
  await expect.poll(async () => (await gatehouse.get('/_db/blog/articles')).body).toEqual([])
  await bar(page).getByRole('button', { name: 'Delete' }).click()
  const stale = dialogOf(page, 'Delete 12 documents?')
  await expect(stale).toContainText('12 documents no longer exist.')
  await stale.getByRole('button', { name: 'Clear selection' }).click()
  await expect(bar(page)).toBeHidden()
  await expect(last(page)).toBeHidden()
  await page.goto(job)
  await expect(dialogOf(page, 'Documents deleted')).toContainText(
    '12 documents of articles were deleted.',
  )
})

test('An export continues on other pages, which report that it failed', async ({
  page,
  gatehouse,
  browserErrors,
}) => {
  browserErrors.allow(/^http 503 GET .*export-as=csv/)
  await makeBlog(gatehouse, many)
  await gatehouse.signIn(page, ARTICLES)
  const held = await holdRequests(page, /export-as=csv/, (route) =>
    route.fulfill({ status: 503, json: { id: 'unavailable', message: 'Out of service.' } }),
  )
  const exportAs = async (format: string) => {
    await page.getByRole('button', { name: 'Export' }).click()
    await page.getByRole('menuitem', { name: format, exact: true }).click()
  }
  await exportAs('CSV')
  const bar = page.getByRole('region', { name: 'Export' })
  await page.getByRole('link', { name: 'Endpoints', exact: true }).click()
  await expect(page.getByRole('heading', { name: 'Endpoints' })).toBeVisible()
  await expect(bar).toContainText('Exporting articles…')
  // A second export does not cancel the first.
  await page.goBack()
  const download = page.waitForEvent('download')
  await exportAs('NDJSON')
  expect((await download).suggestedFilename()).toBe('articles.ndjson')
  await expect(bar).toContainText('Exporting articles…')

  await page.getByRole('link', { name: 'Databases', exact: true }).click()
  held.release()
  await expect(bar.getByRole('alert')).toHaveText('articles was not exported. Out of service.')
  await bar.getByRole('button', { name: 'Close' }).click()
  await expect(bar).toBeHidden()
  await expect(page.getByRole('main')).toBeFocused()
})

test('A save that is rejected after its form was closed is reported, and the form keeps the input', async ({
  page,
  gatehouse,
  browserErrors,
}) => {
  browserErrors.allow(/^http 412 PUT .*\/articles\/\?id=d00/)
  await makeBlog(gatehouse, many)
  await gatehouse.signIn(page, `${ARTICLES}?edit=d00`)
  const form = dialogOf(page, 'Edit document d00')
  await editorOf(page).fill('{ "id": "d00", "title": "Mine" }')
  const held = Promise.withResolvers<void>()
  let isSent = false
  await page.route(/\/articles\/\?id=d00$/, async (route) => {
    if (route.request().method() === 'PUT') {
      isSent = true
      await held.promise
    }
    await route.continue()
  })
  await page.keyboard.press('Control+Enter')
  await expect.poll(() => isSent).toBe(true)
  await replaceOutside(gatehouse, 'd00', { title: 'Theirs' })
  await form.getByRole('button', { name: 'Cancel' }).click()
  await expect(form).toBeHidden()
  await page.getByRole('link', { name: 'Endpoints', exact: true }).click()
  held.resolve()
  const bar = page.getByRole('region', { name: 'Failed change' })
  await expect(bar.getByRole('alert')).toHaveText(
    'Document d00 of blog/articles was not saved. Someone else changed it.',
  )
  await bar.getByRole('button', { name: 'Try again' }).click()
  await expect(bar).toBeHidden()
  await form.getByRole('button', { name: 'Restore' }).click()
  await expect(editorOf(page)).toContainText('"title": "Mine"')
  await page.keyboard.press('Control+Enter')
  await form.getByRole('button', { name: 'Keep mine' }).click()
  await page.keyboard.press('Control+Enter')
  await expect(dialogOf(page, 'Document d00')).toContainText('"title": "Mine"')
})

test('Failed saves of documents with the same id in two collections are reported separately', async ({
  page,
  gatehouse,
  browserErrors,
}) => {
  browserErrors.allow(/^http 503 PUT .*\?id=d1$/)
  await makeBlog(gatehouse)
  const collections = ['articles', 'drafts']
  for (const collection of collections) {
    await gatehouse.post(`/_db/blog/${collection}`, { id: 'd1' })
  }
  await gatehouse.signIn(page, '/_console/documents/blog')
  const held = Promise.withResolvers<void>()
  let sent = 0
  await page.route(/\/_db\/blog\/[a-z]+\/\?id=d1$/, async (route) => {
    if (route.request().method() !== 'PUT') return route.continue()
    sent += 1
    await held.promise
    await route.fulfill({ status: 503, json: { id: 'unavailable', message: 'Out of service.' } })
  })
  const form = dialogOf(page, 'Edit document d1')
  for (const collection of collections) {
    await page.getByLabel('Collection', { exact: true }).selectOption(collection)
    await page.getByRole('link', { name: 'd1', exact: true }).click()
    await page.getByRole('button', { name: 'Edit document' }).click()
    await editorOf(page).fill(`{ "id": "d1", "title": "${collection}" }`)
    const before = sent
    await page.keyboard.press('Control+Enter')
    await expect.poll(() => sent).toBe(before + 1)
    await form.getByRole('button', { name: 'Cancel' }).click()
    await expect(form).toBeHidden()
    await page.keyboard.press('Escape')
  }
  held.resolve()
  const bars = page.getByRole('region', { name: 'Failed change' })
  await expect(bars.getByRole('alert')).toHaveText([
    'Document d1 of blog/articles was not saved. Out of service.',
    'Document d1 of blog/drafts was not saved. Out of service.',
  ])
})

test('The input of an index that is created after its form was closed is not restored', async ({
  page,
  gatehouse,
}) => {
  await makeBlog(gatehouse, many)
  await gatehouse.signIn(page, `${ARTICLES}/indexes?create=1`)
  const form = dialogOf(page, 'Create index on articles')
  await form.getByRole('combobox', { name: 'Field 1', exact: true }).fill('title')
  const held = await holdRequests(page, /\/_index\/articles\/by-title$/)
  await page.keyboard.press('Control+Enter')
  await held.requested
  await form.getByRole('button', { name: 'Cancel' }).click()
  await expect(form).toBeHidden()
  held.release()
  // The row may be shown before the response arrives, which deletes the input.
  await expect(page.getByRole('region', { name: 'Last change' })).toContainText(
    'Index by-title is being built',
  )
  await expect(page.getByRole('row').filter({ hasText: 'by-title' })).toBeVisible()
  await page.getByRole('button', { name: 'Create index' }).click()
  await expect(form.getByRole('combobox', { name: 'Field 1', exact: true })).toHaveValue('')
})

test('An index whose creation gets no response is not created a second time by a retry', async ({
  page,
  gatehouse,
  browserErrors,
}) => {
  browserErrors.allow(/^request failed PUT .*\/_index\/articles\/by-title/)
  await makeBlog(gatehouse, many)
  // The list is loaded again when the server reports the new index, which may be before the
  // request that creates it fails.
  const failed = Promise.withResolvers<void>()
  let isCreated = false
  await page.route(/\/_index\/articles$/, async (route) => {
    if (isCreated) await failed.promise
    await route.continue()
  })
  await page.route(
    /\/_index\/articles\/by-title$/,
    async (route) => {
      isCreated = true
      await route.fetch()
      await route.abort('connectionreset')
    },
    { times: 1 },
  )
  await gatehouse.signIn(page, `${ARTICLES}/indexes?create=1`)
  const form = dialogOf(page, 'Create index on articles')
  await form.getByRole('combobox', { name: 'Field 1', exact: true }).fill('title')
  await page.keyboard.press('Control+Enter')
  const unknown = form.getByText('The index may or may not have been created.')
  await expect(unknown).toBeVisible()
  failed.resolve()
  await expect(form.getByText('The index by-title already has this definition')).toBeVisible()
  await expect(form.getByText('Gatehouse did not respond.')).toBeVisible()
  await expect(unknown).toBeHidden()
  await page.reload()
  await form.getByRole('button', { name: 'Restore' }).click()
  await expect(form.getByText('The index by-title already has this definition')).toBeVisible()
  // The page repeats what was announced in a dialog only if the dialog closes within a second.
  await page.clock.setFixedTime(new Date())
  await page.keyboard.press('Control+Enter')
  await expect(form).toBeHidden()
  await expect(page.getByRole('region', { name: 'Last change' })).toContainText(
    'Index by-title already exists',
  )
  expect((await gatehouse.get('/_db/blog/_index/articles')).body).toMatchObject([
    { name: 'by-title', fields: ['title'] },
  ])
})

test('An index that someone deletes is no longer shown, and queries continue without it', async ({
  page,
  gatehouse,
}) => {
  await makeBlog(gatehouse, many)
  const remove = () => gatehouse.delete('/_db/blog/_index/articles/by-n')
  const create = () => gatehouse.put('/_db/blog/_index/articles/by-n', { fields: ['n'] })
  await create()
  await expect
    .poll(async () => (await gatehouse.get('/_db/blog/_index/articles')).body)
    .toMatchObject([{ name: 'by-n', state: 'ready' }])
  await gatehouse.signIn(page, `${ARTICLES}?filter=n%3D1`)
  const reloaded = (text: string) =>
    expect(async () => {
      await page.reload()
      await expect(page.getByText(text)).toBeVisible({ timeout: 20_000 })
    }).toPass()
  await reloaded('Read 0 documents using the index by-n.')
  await remove()
  await reloaded('Scanned 12 documents.')

  await create()
  await page.getByRole('link', { name: 'Indexes' }).click()
  await page.getByRole('button', { name: 'Delete by-n' }).click()
  await expect(dialogOf(page, 'Delete index by-n?')).toBeVisible()
  await remove()
  await expect(dialogOf(page, 'There is no index by-n')).toBeVisible()
  await page.keyboard.press('Escape')
  await expect(page.getByText('No indexes yet.')).toBeVisible()
})
