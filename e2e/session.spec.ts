import { ARTICLES, dialogOf, editorOf, makeBlog } from './support/page/documents-page.ts'
import { addDatabases, consolePath, rowOf } from './support/page/endpoints-page.ts'
import { expectAccessible } from './support/page/expect-accessible.ts'
import { watchFirstView } from './support/page/first-view.ts'
import { expect, sessionTest as test } from './support/server/gatehouse.ts'
import { giveKey } from './support/sign-in.ts'

test('The console requires a sign-in, which returns to the requested page', async ({
  page,
  gatehouse,
}) => {
  const wanted = `${consolePath}?q=state%3Alistening`
  await page.goto(wanted)
  await expect(page).toHaveTitle('Sign in · Gatehouse')
  await expect(page.getByRole('button', { name: 'Sign in with the operator key' })).toBeVisible()
  expect(
    await page.evaluate(() => {
      const { scrollHeight, clientHeight } = document.documentElement
      return scrollHeight - clientHeight
    }),
  ).toBe(0)
  await expect(page.getByText('The key is stored in operator.key')).toContainText(
    'unless the server gets it from GATEHOUSE_OPERATOR_KEY.',
  )
  // On a phone, the command is not broken at its hyphen.
  await page.setViewportSize({ width: 375, height: 812 })
  const command = page.getByText('gatehouse operator-key', { exact: true })
  expect(await command.evaluate((code) => code.getClientRects().length)).toBe(1)
  await page.setViewportSize({ width: 1440, height: 900 })
  await giveKey(page, gatehouse.operatorKey)
  await expect(page.getByRole('searchbox', { name: 'Filter endpoints' })).toHaveValue(
    'state:listening',
  )
  await expect(rowOf(page, `tcp://127.0.0.1:${gatehouse.port}`)).toBeVisible()
})

test('The sign-in page warns if its connection to another machine is not encrypted', async ({
  page,
}) => {
  const warning = page.getByRole('note').filter({ hasText: 'not encrypted' })
  await page.goto('/_console/sign-in')
  await expect(page.getByRole('button', { name: 'Sign in with' })).toBeVisible()
  await expect(warning).toBeHidden()
  // As in a page of another machine over plain HTTP.
  await page.addInitScript(() => Object.defineProperty(window, 'isSecureContext', { value: false }))
  await page.reload()
  await expect(warning).toBeVisible()
})

test('A wrong key is rejected with an explanation, and the right one is accepted', async ({
  page,
  gatehouse,
  browserErrors,
}) => {
  browserErrors.allow(/^http 4\d\d POST .*\/_idp\//)
  await page.goto('/_console/')
  await giveKey(page, 'not-the-key-of-this-server')
  await expect(page.getByRole('alert')).toBeVisible()
  await giveKey(page, gatehouse.operatorKey)
  await expect(page.getByRole('heading', { name: 'Overview' })).toBeVisible()
})

test('Signing out ends the session on the server and requires the key again', async ({
  page,
  gatehouse,
  browserErrors,
}) => {
  // Requests of the page may be in flight when the session ends.
  browserErrors.allow(/^http 401 GET /)
  await gatehouse.signIn(page)
  const cookies = await page.context().cookies()
  await page.getByRole('button', { name: 'Operator account menu' }).click()
  await page.getByRole('menuitem', { name: 'Sign out' }).click()
  await expect(page.getByText('You are signed out.')).toBeVisible()

  // The server has ended the session; restoring the cookie does not help.
  await page.context().addCookies(cookies)
  await page.goto(consolePath)
  await expect(page.getByLabel('Operator key')).toBeVisible()
})

test('A session that ends during an edit keeps the input', async ({
  page,
  gatehouse,
  browserErrors,
}) => {
  browserErrors.allow(/^http 401 /)
  const port = await gatehouse.freePort()
  await gatehouse.signIn(page, `${consolePath}/new`)
  await page.getByLabel('Port').fill(String(port))
  await addDatabases(page, 'blog', 'shop')
  await page.getByLabel('Port').focus()
  await gatehouse.delete('/_db/_system/_api/user/me/session/all')

  const form = page.getByRole('dialog', { name: 'Add endpoint' })
  await expect(form.getByText('You were signed out because this session was ended.')).toBeVisible()
  await expect(form.getByText('Your input is kept.')).toBeVisible()
  await expect(form.getByLabel('Port')).toHaveValue(String(port))
  await form.getByRole('link', { name: 'Sign in again' }).click()

  await giveKey(page, gatehouse.operatorKey)
  // The form never fills itself in.
  await expect(form.getByText(/^You have unsaved input from \d+:\d+/)).toBeVisible()
  await expect(form.getByLabel('Port')).toHaveValue('')
  await expect(form.getByLabel('Port')).toBeFocused()
  await expectAccessible(page)
  await form.getByRole('button', { name: 'Restore' }).click()
  await expect(form.getByLabel('Port')).toHaveValue(String(port))
  await expect(form.getByRole('list', { name: 'Databases in order' })).toContainText('shop')
  await page.keyboard.press('Control+Enter')
  await expect(rowOf(page, `tcp://127.0.0.1:${port}`)).toContainText('Listening')
  await expect(form).toBeHidden()

  // The draft was used, so the next form is empty.
  await page.getByRole('button', { name: 'Add endpoint' }).click()
  await expect(form.getByLabel('Port')).toHaveValue('')
})

test('When another person signs in, the input of the first is hidden and kept', async ({
  page,
  gatehouse,
}) => {
  await gatehouse.signIn(page, `${consolePath}/new`)
  await page.getByLabel('Port').fill('8534')
  await expect(page.getByText('Live', { exact: true })).toBeVisible()
  let another = true
  await page.route('**/_api/session', async (route) => {
    if (!another) return route.continue()
    const response = await route.fetch()
    const session = await response.json()
    const person = { ...session.person, id: 'other', username: 'github:2', name: null }
    await route.fulfill({ response: response, json: { ...session, person } })
  })
  // The page checks the session whenever it becomes visible.
  await page.evaluate(() => window.dispatchEvent(new Event('visibilitychange')))
  await expect(page.getByText('github:2 is now signed in')).toBeVisible()
  await expect(page.getByText('Unsaved input of Operator is hidden')).toBeVisible()
  await expect(page.getByLabel('Port')).toHaveCount(0)

  await page.getByRole('button', { name: 'Reload' }).click()
  await expect(page.getByLabel('Port')).toHaveValue('')
  another = false
  await page.reload()
  await page.getByRole('button', { name: 'Restore' }).click()
  await expect(page.getByLabel('Port')).toHaveValue('8534')
})

test('A missing chunk offers a reload, which keeps the input', async ({
  page,
  gatehouse,
  browserErrors,
}) => {
  browserErrors.allow(/^http 404 GET .*\/assets\//)
  browserErrors.allow(
    /^console TypeError: Failed to fetch dynamically imported module: .*activity-page/,
  )
  await gatehouse.signIn(page, `${consolePath}/new`)
  await page.getByLabel('Port').fill('8534')
  // A new version has removed the page's files: the server responds as for any missing file.
  await page.route(/\/assets\/activity-page-[^/]*\.js$/, (route) =>
    route.continue({ url: `${gatehouse.url}/_console/assets/activity-page-gone.js` }),
  )
  await page.keyboard.press('Control+k')
  await page.getByRole('combobox', { name: 'Search for' }).fill('activity')
  await page.keyboard.press('Enter')
  await expect(page.getByText('A new version may be available.')).toBeVisible()
  await page.unroute(/\/assets\/activity-page-[^/]*\.js$/)
  await page.getByRole('button', { name: 'Reload' }).click()
  await expect(page.getByRole('heading', { name: 'Activity' })).toBeVisible()

  await page.goto(`${consolePath}/new`)
  await page.getByRole('button', { name: 'Restore' }).click()
  await expect(page.getByLabel('Port')).toHaveValue('8534')
})

test('A page continues after a sign-in in another tab', async ({
  page,
  gatehouse,
  browserErrors,
}) => {
  browserErrors.allow(/^http 401 /)
  await page.clock.install()
  await gatehouse.signIn(page)
  await expect(page.getByText('Live', { exact: true })).toBeVisible()
  await gatehouse.delete('/_db/_system/_api/user/me/session/all')
  await expect(page.getByText('You were signed out because this session was ended.')).toBeVisible()
  const other = await page.context().newPage()
  await gatehouse.signIn(other)
  // The page polls every 15 s.
  await page.clock.fastForward(15_000)
  await expect(page.getByText('You were signed out')).toBeHidden()
  await expect(page.getByText('Live', { exact: true })).toBeVisible()
})

test('Open sessions are listed, and the others can be ended', async ({
  page,
  gatehouse,
  browser,
  browserErrors,
}) => {
  browserErrors.allow(/^http 401 /)
  const elsewhere = await browser.newContext()
  const there = await elsewhere.newPage()
  await gatehouse.signIn(there)
  await gatehouse.signIn(page, '/_console/me')
  const sessions = page.getByRole('table', { name: 'Sessions' }).getByRole('row')
  await expect(sessions).toHaveCount(3)
  await expect(sessions.filter({ hasText: 'This session' })).toHaveCount(1)
  await expect(sessions.first()).toContainText('Client address')
  await page.getByRole('button', { name: /^End the session of/ }).click()
  await expect(sessions).toHaveCount(2)
  await expect(there.getByText('You were signed out because this session was ended.')).toBeVisible()
  await elsewhere.close()
})

test('The second click of a double-click does not end the next session', async ({
  page,
  gatehouse,
  browser,
}) => {
  const others = await Promise.all([browser.newContext(), browser.newContext()])
  for (const other of others) await gatehouse.signIn(await other.newPage())
  await gatehouse.signIn(page, '/_console/me')
  const sessions = page.getByRole('table', { name: 'Sessions' }).getByRole('row')
  const end = page.getByRole('button', { name: /^End the session of/ })
  await expect(sessions).toHaveCount(4)
  const clickFirst = async (clickCount: number) => {
    await end.first().hover()
    await page.mouse.down({ clickCount })
    await page.mouse.up({ clickCount })
  }
  await clickFirst(1)
  await expect(sessions).toHaveCount(3)
  await clickFirst(2)
  await page.reload()
  await expect(sessions).toHaveCount(3)
  await clickFirst(1)
  await expect(sessions).toHaveCount(2)
  for (const other of others) await other.close()
})

/** Limits of the first view with an empty browser cache. With gzip, 181 kB of Brotli are 200 kB. */
const MOST_SCRIPTS = 15
const MOST_SCRIPT_BYTES = 181_000
/** Limit of the overview of an empty server, with the first steps: 177 kB with gzip. */
const MOST_OVERVIEW_BYTES = 160_000
/** The same for any other page, before an editor opens. */
const MOST_PAGE_SCRIPTS = 20
const MOST_PAGE_BYTES = 250_000
/** Limit of the bytes before the first paint: half of what 50 kB/s transfers in 2 s. */
const MOST_BYTES_BEFORE_PAINT = 50_000

test('The first view paints a skeleton immediately, loads few scripts and sends each request once', async ({
  page,
  gatehouse,
}) => {
  await gatehouse.signIn(page, '/_console/me')
  const fresh = await page
    .context()
    .browser()
    ?.newContext({ baseURL: gatehouse.url, storageState: await page.context().storageState() })
  const first = await fresh?.newPage()
  if (fresh === undefined || first === undefined) throw new Error('the browser has closed')

  // Hold back all files that the build names by hash: style sheets, scripts, fonts.
  let release = () => {}
  const held = new Promise<void>((resolve) => {
    release = resolve
  })
  await first.route('**/_console/assets/**', (route) => held.then(() => route.continue()))
  const loaded = await watchFirstView(first)
  await first.goto(consolePath, { waitUntil: 'commit' })
  await expect(first.getByText('Loading the console…')).toBeVisible()
  await expect
    .poll(() => first.evaluate(() => performance.getEntriesByType('paint').length))
    .toBeGreaterThan(0)
  expect(loaded.bytes()).toBeLessThanOrEqual(MOST_BYTES_BEFORE_PAINT)

  release()
  await expect(rowOf(first, `tcp://127.0.0.1:${gatehouse.port}`)).toBeVisible()
  await expect(first.getByText('Live', { exact: true })).toBeVisible()
  await expect(first.getByText('Loading the console…')).toBeHidden()
  // The traffic of visible rows is read last.
  await expect.poll(() => loaded.reads().some((read) => read.includes('recent='))).toBe(true)
  const { count, bytes } = loaded.scripts()
  expect(count).toBeLessThanOrEqual(MOST_SCRIPTS)
  expect(bytes).toBeLessThanOrEqual(MOST_SCRIPT_BYTES)
  // Traffic and health are read again at intervals.
  const reads = loaded.reads().filter((read) => !/recent=|health/.test(read))
  expect(reads).toEqual([...new Set(reads)])
  for (const what of ['session', 'endpoint', 'listener', 'database', 'node']) {
    expect(reads).toContain(`/_db/_system/_api/${what}`)
  }
  await fresh.close()
})

test('The overview loads few scripts, and not the table of endpoints', async ({
  page,
  gatehouse,
}) => {
  await gatehouse.signIn(page, '/_console/me')
  const fresh = await page
    .context()
    .browser()
    ?.newContext({ baseURL: gatehouse.url, storageState: await page.context().storageState() })
  const first = await fresh?.newPage()
  if (fresh === undefined || first === undefined) throw new Error('the browser has closed')
  const loaded = await watchFirstView(first)
  await first.goto('/_console/')
  await expect(first.getByRole('region', { name: 'Needs attention' })).toContainText('Nothing')
  await expect(first.getByText('Live', { exact: true })).toBeVisible()
  const { count, bytes } = loaded.scripts()
  expect(count).toBeLessThanOrEqual(MOST_SCRIPTS)
  expect(bytes).toBeLessThanOrEqual(MOST_OVERVIEW_BYTES)
  const reads = loaded.reads().filter((read) => !/health/.test(read))
  expect(reads).toEqual([...new Set(reads)])
  await fresh.close()
})

test('The page of a collection loads few scripts, and the editor only to edit', async ({
  page,
  gatehouse,
}) => {
  await makeBlog(
    gatehouse,
    Array.from({ length: 150 }, (_, n) => ({ id: `d${100 + n}` })),
  )
  await gatehouse.signIn(page, '/_console/me')
  const fresh = await page
    .context()
    .browser()
    ?.newContext({ baseURL: gatehouse.url, storageState: await page.context().storageState() })
  const first = await fresh?.newPage()
  if (fresh === undefined || first === undefined) throw new Error('the browser has closed')
  // Records the elements that the layout moves while the page loads.
  await first.addInitScript(() => {
    const moved: string[] = []
    Object.assign(window, { moved })
    new PerformanceObserver((list) => {
      const shifts = list.getEntries() as unknown as { sources: { node: Element | null }[] }[]
      for (const { node } of shifts.flatMap(({ sources }) => sources))
        moved.push(node?.closest?.('nav')?.ariaLabel ?? '')
    }).observe({ type: 'layout-shift', buffered: true })
  })
  const loaded = await watchFirstView(first)
  await first.goto(ARTICLES)
  await expect(first.getByRole('rowheader').first()).toBeVisible()
  await expect(first.getByRole('navigation', { name: 'Pages' })).toBeVisible()
  await expect(first.getByText('Live', { exact: true })).toBeVisible()
  const { count, bytes } = loaded.scripts()
  expect(count).toBeLessThanOrEqual(MOST_PAGE_SCRIPTS)
  expect(bytes).toBeLessThanOrEqual(MOST_PAGE_BYTES)
  expect(
    await first.evaluate(() => (window as unknown as { moved: string[] }).moved),
  ).not.toContain('Pages')

  await first.getByRole('link', { name: 'd100' }).click()
  const document = dialogOf(first, 'Document d100')
  await expect(document.getByRole('region', { name: 'Document d100 as JSON' })).toContainText(
    '"id": "d100"',
  )
  const before = loaded.scripts().bytes
  expect(before).toBeLessThanOrEqual(MOST_PAGE_BYTES + 20_000)
  await document.getByRole('button', { name: 'Edit document' }).click()
  await expect(editorOf(first)).toBeFocused()
  expect(loaded.scripts().bytes).toBeGreaterThan(before + 80_000)
  await fresh.close()
})
