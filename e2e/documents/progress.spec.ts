import { ARTICLES, dialogOf, makeBlog } from '../support/page/documents-page.ts'
import { holdRequests } from '../support/page/hold-requests.ts'
import { expect, test } from '../support/server/gatehouse.ts'

// Tests what the pages show while a request or a build is in progress.

test('The page shows that documents load, that a count failed, and how far an index is built', async ({
  page,
  gatehouse,
  browserErrors,
}) => {
  browserErrors.allow(/^http 422 GET .*\/articles\?.*limit=1$/)
  await makeBlog(gatehouse, [{ id: 'one' }, { id: 'two' }])
  const held = await holdRequests(page, /\/articles\?.*limit=50/)
  await gatehouse.signIn(page, ARTICLES)
  const loading = page.getByRole('status').filter({ hasText: 'Loading the documents…' })
  await expect(loading).toBeVisible()
  held.release()
  await expect(page.getByRole('rowheader')).toHaveText(['one', 'two'])
  await expect(loading).toBeHidden()

  const tooExpensive = { id: 'query_too_expensive', message: 'Too slow.' }
  await page.route(/\/articles\?.*limit=1$/, (route) =>
    route.fulfill({ status: 422, json: tooExpensive }),
  )
  // The number of all documents is known.
  await expect(page.getByText('2 documents', { exact: true })).toBeVisible()
  await page.goto(`${ARTICLES}?filter=id:gte%3Da`)
  await page.getByRole('button', { name: 'Count documents' }).click()
  await expect(page.getByRole('alert').filter({ hasText: 'Not counted. Too slow.' })).toBeVisible()
  await page.unroute(/\/articles\?.*limit=1$/)
  await page.getByRole('button', { name: 'Count again' }).click()
  await expect(page.getByText('2 documents match.')).toBeVisible()

  await gatehouse.put('/_db/blog/_index/articles/by-n', { fields: ['n'] })
  let progress = 0.427
  await page.route(/\/_index\/articles$/, async (route) => {
    const response = await route.fetch()
    const [index] = (await response.json()) as object[]
    await route.fulfill({ response, json: [{ ...index, state: 'building', progress }] })
  })
  await page.getByRole('link', { name: 'Indexes' }).click()
  const row = page.getByRole('row').filter({ hasText: 'by-n' })
  await expect(row).toContainText('Building…')
  await expect(row).toContainText('42%')
  await expect(row.getByRole('progressbar', { name: 'Progress of by-n' })).toHaveAttribute(
    'value',
    '42',
  )
  progress = 0.9
  await expect(row).toContainText('90%')
  await page.unroute(/\/_index\/articles$/)
  await expect(row).toContainText('Ready')
})

test('An import of NDJSON shows the share that was sent, and the lines that were rejected', async ({
  page,
  context,
  gatehouse,
}) => {
  await makeBlog(gatehouse)
  await gatehouse.signIn(page, `${ARTICLES}?import=1`)
  const form = dialogOf(page, 'Import documents into articles')
  const lines = Array.from({ length: 60 }, (_, n) =>
    JSON.stringify({ id: `d${n}`, n: n === 0 ? 'zero' : n, text: 'x'.repeat(20_000) }),
  )
  const chooser = page.waitForEvent('filechooser')
  await form.getByRole('button', { name: 'File' }).click()
  const buffer = Buffer.from([lines[0], '[]', ...lines.slice(1)].join('\n'))
  await (await chooser).setFiles({ name: 'a.ndjson', mimeType: 'application/x-ndjson', buffer })
  await expect(form.getByLabel('Format')).toContainText('Detected: NDJSON')
  await expect(form.getByRole('columnheader', { name: 'n text, number' })).toBeVisible()
  await expect(form.getByText('Line 2: A document must be a JSON object.')).toBeVisible()

  const network = await context.newCDPSession(page)
  const limitUpload = (bytesPerSecond: number) =>
    network.send('Network.emulateNetworkConditions', {
      ...{ offline: false, latency: 0, downloadThroughput: -1 },
      uploadThroughput: bytesPerSecond,
    })
  await limitUpload(40_000)
  await page.keyboard.press('Control+Enter')
  const bar = form.getByRole('progressbar', { name: 'Importing documents' })
  const share = async () => Number(await bar.getAttribute('value'))
  await expect.poll(share).toBeGreaterThan(0)
  await expect(form.getByText(/^[1-9][0-9]? % sent\. Keep this page open/)).toBeVisible()
  await limitUpload(-1)
  await expect(form.getByText('60 created, 1 failed.').first()).toBeVisible()
  await expect(form.getByRole('list', { name: 'Errors' })).toHaveText(
    'Line 2: A document must be a JSON object.',
  )
  await form.getByRole('button', { name: 'Close' }).last().click()
  await expect(page.getByRole('rowheader')).toHaveCount(50)
})

test('After a reload, the form says that an import was interrupted, and keeps stored documents', async ({
  page,
  gatehouse,
}) => {
  await makeBlog(gatehouse, [{ id: 'one' }])
  // Until the page is reloaded, which cancels the request.
  const held = await holdRequests(page, /on-conflict=/)
  await gatehouse.signIn(page, `${ARTICLES}?import=1`)
  const form = dialogOf(page, 'Import documents into articles')
  await form.getByLabel('Or paste documents').fill('id\none\ntwo')
  await page.keyboard.press('Control+Enter')
  await held.requested
  page.once('dialog', (dialog) => void dialog.accept())
  await page.reload()
  await page.unroute(/on-conflict=/)
  await form.getByRole('button', { name: 'Restore' }).click()
  await expect(form.getByText('An import was interrupted.')).toHaveText(
    /Some of its documents may have been stored\./,
  )
  await expect(form.getByLabel('If the id exists')).toHaveValue('skip')
  await page.keyboard.press('Control+Enter')
  await expect(form.getByText('1 created, 1 skipped.').first()).toBeVisible()

  // A completed import leaves no trace.
  await page.reload()
  await expect(form.getByLabel('Or paste documents')).toHaveValue('')
  await expect(form.getByText('An import was interrupted.')).toBeHidden()
})
