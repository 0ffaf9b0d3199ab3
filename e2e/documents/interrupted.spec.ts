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

test('The list shows the result of a job whose dialog was closed, and a job is cancelled', async ({
  page,
  gatehouse,
}) => {
  await makeBlog(gatehouse, many)
  const [kind, created, updated] = ['patch', '', '']
  const counts = { total: 12, found: 12, failure: null }
  const job = { id: 'one', collection: 'articles', kind, ...counts, created, updated }
  let hasEnded = false
  await page.route(/_job\/one/, (route) => {
    if (route.request().method() === 'DELETE') {
      return route.fulfill({ json: { ...job, state: 'cancelled', done: 3, found: 3 } })
    }
    const [state, done] = hasEnded ? ['done', 12] : ['running', 3]
    return route.fulfill({ status: hasEnded ? 200 : 206, json: { ...job, state, done } })
  })
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

  hasEnded = false
  await page.goto(`${ARTICLES}?job=one`)
  await dialog.getByRole('button', { name: 'Cancel change' }).click()
  const outcome = dialogOf(page, 'Change cancelled')
  await expect(outcome).toContainText('3 documents of articles were changed.')
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
    const dialogEvent = tab.waitForEvent('dialog')
    await tab.close({ runBeforeUnload: true })
    const question = await dialogEvent
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

  await page.getByRole('link', { name: 'Data', exact: true }).click()
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
