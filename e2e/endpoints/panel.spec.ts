import { execFile } from 'node:child_process'
import { mkdir } from 'node:fs/promises'
import { connect } from 'node:net'
import path from 'node:path'
import { promisify } from 'node:util'
import { BODY_PROGRESS } from '../../server/contract/request-body.ts'
import { consolePath, openTab, panelOf, rowOf } from '../support/page/endpoints-page.ts'
import { expectAccessible } from '../support/page/expect-accessible.ts'
import { holdRequests } from '../support/page/hold-requests.ts'
import { expect, freshTest, type Gatehouse, test } from '../support/server/gatehouse.ts'
import { hasCurl } from '../support/server/has-curl.ts'
import { listen } from '../support/server/listen.ts'

const panelPath = (address: string, tab?: string) =>
  `${consolePath}?${new URLSearchParams({ open: address, ...(tab && { tab }) })}`

/** Adds an endpoint with existing databases; returns its port, address and URL. */
async function added(gatehouse: Gatehouse, ...databases: string[]) {
  for (const name of databases) await gatehouse.post('/_db/_system/_api/database', { name })
  const port = await gatehouse.freePort()
  const address = `tcp://127.0.0.1:${port}`
  await gatehouse.post('/_db/_system/_api/endpoint', { endpoint: address, databases })
  return { port, address, url: `http://127.0.0.1:${port}` }
}

test('Requests to an endpoint show in its panel, which opens by keyboard', async ({
  page,
  gatehouse,
}) => {
  const { address, url } = await added(gatehouse, 'blog')
  for (let n = 0; n < 12; n += 1) await gatehouse.get(`${url}/articles`)
  for (let n = 0; n < 3; n += 1) await gatehouse.get(`${url}/articles/nothing`)
  await gatehouse.signIn(page, consolePath)

  await rowOf(page, address).focus()
  await page.keyboard.press('Enter')
  const panel = panelOf(page, address)
  await expect(panel.getByRole('heading', { name: address })).toBeFocused()
  await expect(page).toHaveURL(/open=/)
  const traffic = panel.getByRole('region', { name: 'Traffic' })
  await expect(traffic).toContainText(/15 requests in the last .*, 3 rejected or failed/)
  await expect(traffic.getByRole('definition').filter({ hasText: /^15$/ })).toBeVisible()
  await expect(panel.getByRole('region', { name: 'Response times' })).toContainText(
    /95th percentile([0-9.]+ ms|–)/,
  )

  const chart = traffic.getByRole('slider', { name: 'Time within the last hour' })
  await chart.focus()
  await page.keyboard.press('Home')
  await expect(chart).toHaveAttribute('aria-valuetext', /requests\/s unknown/)
  await page.keyboard.press('End')
  await expect(chart).toHaveAttribute(
    'aria-valuetext',
    /, [0-9.]+ requests\/s, [0-9.]+ rejected or failed\/s$/,
  )

  await page.keyboard.press('Shift+Tab')
  await page.keyboard.press('ArrowRight')
  await expect(traffic.getByRole('radio', { name: 'Bytes' })).toBeChecked()
  await expect(traffic).toContainText(/received and .* sent in the last/)

  await page.keyboard.press('Escape')
  await expect(panel).toBeHidden()
  await expect(rowOf(page, address)).toBeFocused()
  await expect(page).not.toHaveURL(/open=/)
})

test('The panel leaves the table usable and closes by going back', async ({ page, gatehouse }) => {
  const { address } = await added(gatehouse)
  const first = `tcp://127.0.0.1:${gatehouse.port}`
  await gatehouse.signIn(page, consolePath)
  await rowOf(page, address).focus()
  // Record the focused element as soon as the panel exists, before it is painted.
  await page.evaluate(() =>
    new MutationObserver((_, observer) => {
      if (document.querySelector('[role="dialog"] h2') === null) return
      observer.disconnect()
      document.body.dataset.focused = document.activeElement?.textContent ?? ''
    }).observe(document.body, { childList: true, subtree: true }),
  )
  await page.keyboard.press('Enter')
  await expect(page.locator('body')).toHaveAttribute('data-focused', address)
  const heading = panelOf(page, address).getByRole('heading', { name: address })
  await expect(heading).toBeFocused()

  // The table is sorted by address, and the ports are arbitrary.
  const [toOther, back] =
    address > first ? (['ArrowDown', 'ArrowUp'] as const) : (['ArrowUp', 'ArrowDown'] as const)
  await rowOf(page, first).focus()
  await page.keyboard.press(toOther)
  await expect(rowOf(page, address)).toBeFocused()
  await page.keyboard.press(back)
  await page.keyboard.press('Enter')
  await expect(panelOf(page, first)).toContainText('You are here')
  await expect(panelOf(page, address)).toBeHidden()

  // The control that has the focus is replaced with the panel's content.
  await panelOf(page, first).getByRole('slider').focus()
  await page.goBack()
  await expect(panelOf(page, address)).toBeVisible()
  await expect(heading).toBeFocused()
  await rowOf(page, first).focus()
  await page.keyboard.press('t')
  await expect(panelOf(page, first).getByRole('tabpanel', { name: 'Connect' })).toContainText(
    'curl http',
  )
  await page.goBack()
  await expect(panelOf(page, address)).toBeVisible()
  await page.goBack()
  await expect(panelOf(page, address)).toBeHidden()
  await page.goto(panelPath('tcp://127.0.0.1:1'))
  await page.getByRole('button', { name: 'Back to the list' }).click()
  await expect(page).toHaveURL(new RegExp(`${consolePath}$`))
})

test('Only requests that the policy permits are suggested', async ({ page, gatehouse }) => {
  const { address } = await added(gatehouse, 'shop')
  await gatehouse.post('/_db/shop/customers', { name: 'Ada' })
  await gatehouse.post('/_db/shop/orders', { title: 'Ordered' })
  await gatehouse.put(`/_db/_system/_api/policy?${new URLSearchParams({ endpoint: address })}`, {
    readOnly: true,
    anonymous: { read: ['orders'] },
  })
  await gatehouse.signIn(page, panelPath(address, 'connect'))
  const tried = page.getByRole('region', { name: 'Try it' })
  await expect(tried).toContainText('Read the collection orders, without a token')
  await expect(tried).toContainText('read-only, so inserts are rejected')
  await expect(tried).not.toContainText('Authorization')
  await expect(tried).not.toContainText('Insert')
})

if (hasCurl) {
  test('The suggested commands work in a shell', async ({ page, gatehouse, context }) => {
    await context.grantPermissions(['clipboard-read', 'clipboard-write'])
    const { address } = await added(gatehouse, 'blog', 'shop')
    const TOKEN = await gatehouse.token()
    const run = async (command: string) => {
      const env = { ...process.env, TOKEN }
      const { stdout } = await promisify(execFile)('sh', ['-c', `${command} -sS`], { env })
      return JSON.parse(stdout) as unknown
    }
    await gatehouse.signIn(page, panelPath(address, 'connect'))
    const tried = page.getByRole('region', { name: 'Try it' })
    const commands = async () => {
      const texts = await tried.locator('code').allTextContents()
      return texts.filter((text) => text.startsWith('curl'))
    }
    // The database has no collection to read, so the example creates one.
    await expect(tried).toContainText('Insert a document, which creates the collection articles')
    const [health = '', insert = ''] = await commands()
    expect(await commands()).toHaveLength(2)
    expect(await run(health)).toMatchObject({ ready: true })
    expect(await run(insert)).toMatchObject({ title: 'Hello' })

    await gatehouse.post('/_db/shop/orders', { title: 'Ordered' })
    await tried.getByLabel('Database to try').selectOption('shop')
    await expect(tried).toContainText('Read the collection orders')
    const [, read = ''] = await commands()
    expect(read).toContain('/_db/shop/orders')
    expect(await run(read)).toMatchObject([{ title: 'Ordered' }])
    await tried.getByRole('button', { name: 'Copy the command: Read the collection' }).click()
    const clipboard = () => page.evaluate(() => navigator.clipboard.readText())
    await expect.poll(clipboard).toBe(read)

    // A new token reads only this database, and its revocation is one link away.
    const { TOKEN: _, ...env } = process.env
    const sh = async (command: string) =>
      (await promisify(execFile)('sh', ['-c', `${command} -sS`], { env })).stdout
    await tried.getByRole('button', { name: 'Copy with a new token: Read the' }).click()
    await expect(tried.getByRole('status')).toContainText(
      'The command was copied with the new token Try shop, which has the role viewer',
    )
    expect(JSON.parse(await sh(await clipboard()))).toMatchObject([{ title: 'Ordered' }])
    const elsewhere = (await clipboard()).replace('/_db/shop/orders', '/articles')
    expect(await sh(elsewhere)).toContain(
      'The scope of this token does not include the database blog.',
    )
    await tried.getByRole('link', { name: 'Revoke it' }).click()
    await expect(page.getByRole('dialog', { name: 'Revoke token Try shop?' })).toContainText(
      'It was last used',
    )

    await mkdir(path.join(gatehouse.data, 'sockets'), { recursive: true })
    const socket = `unix://${path.join(gatehouse.data, 'sockets', 'a socket')}`
    await gatehouse.post('/_db/_system/_api/endpoint', { endpoint: socket, databases: ['blog'] })
    await page.goto(panelPath(socket, 'connect'))
    await expect.poll(commands).toHaveLength(3)
    expect(await run((await commands())[1] ?? '')).toMatchObject([{ title: 'Hello' }])
  })
}

test('A failed endpoint moves to a free port, and back', async ({ page, gatehouse }) => {
  const { address, port } = await added(gatehouse, 'blog')
  await gatehouse.stop()
  const other = await listen(port)
  await gatehouse.restart()
  await page.setViewportSize({ width: 1440, height: 900 })
  await gatehouse.signIn(page, panelPath(address))
  const panel = panelOf(page, address)
  const state = panel.getByRole('region', { name: 'Nodes' })
  await expect(state).toContainText(/Failing since [0-9]{2}:[0-9]{2}, [0-9]+ attempts?/)
  await expect(state).toContainText(`sudo ss -ltnp 'sport = :${port}'`)
  await expect(panel).toContainText('Not listening, so no traffic.')
  await expect(rowOf(page, address)).toContainText('is used by another program')
  await expectAccessible(page)

  await panel.getByRole('button', { name: 'Change port…' }).click()
  const form = page.getByRole('dialog', { name: `Change the port of ${address}` })
  const field = form.getByLabel('Port')
  await expect(field).toBeFocused()
  const free = await field.inputValue()
  expect(Number(free)).toBeGreaterThan(port)
  await form.getByRole('button', { name: 'Change port' }).click()
  await expect(form).toBeHidden()
  const moved = `tcp://127.0.0.1:${free}`
  const toast = page.getByRole('region', { name: 'Last change' })
  await expect(toast).toContainText(`${address} is now ${moved}`)
  await expect(rowOf(page, moved)).toContainText('Listening')
  await expect(rowOf(page, address)).toBeHidden()
  expect(await gatehouse.get(`http://127.0.0.1:${free}`)).toMatchObject({
    body: { database: 'blog' },
  })

  await other.close()
  await toast.getByRole('button', { name: 'Undo' }).click()
  await expect(toast).toContainText(`${address} restored`)
  await expect(rowOf(page, address)).toContainText('Listening')
  await expect(rowOf(page, moved)).toBeHidden()
})

test.describe('During a grace period', () => {
  freshTest.use({ drain: 30 })

  freshTest(
    'The panel of a removed endpoint stays open, and its connections can be closed',
    async ({ page, gatehouse, browserErrors }) => {
      // The page may request the traffic of the removed endpoint once more.
      browserErrors.allow(/^http 404 GET .*\/traffic\?/)
      const { address, port } = await added(gatehouse, 'blog')
      await gatehouse.signIn(page, panelPath(address))
      const panel = panelOf(page, address)
      await expect(panel.getByRole('region', { name: 'Nodes' })).toContainText('Listening')
      const token = await gatehouse.token()
      const client = connect(port, '127.0.0.1')
      const closed = new Promise((resolve) => client.once('close', resolve))
      // Read the socket, because an unread response would delay the "close" event.
      client.on('error', () => {}).resume()
      // An idle connection, which draining does not wait for.
      connect(port, '127.0.0.1').on('error', () => {})
      // A request in progress: its body arrives slowly. The server ends one that makes no progress.
      client.write(
        'POST /articles HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 900000\r\n' +
          `Authorization: Bearer ${token}\r\n\r\n{`,
      )
      const progress = setInterval(() => client.write(' '.repeat(BODY_PROGRESS.bytes)), 1_000)
      client.once('close', () => clearInterval(progress))

      const query = new URLSearchParams({ endpoint: address })
      const listener = async () => (await gatehouse.get(`/_db/_system/_api/listener?${query}`)).body
      await expect.poll(listener).toMatchObject([{ connections: 2 }])
      await expect.poll(listener).not.toMatchObject([{ bytesIn: 0 }])
      const ofBothRows = (url: URL) => url.searchParams.getAll('endpoint').length === 2
      const held = await holdRequests(page, ofBothRows)
      await gatehouse.delete(`/_db/_system/_api/endpoint/${encodeURIComponent(address)}`)
      await expect(panel.getByRole('alert').filter({ hasText: 'was removed' })).toBeVisible()
      await expect(panel).toContainText('1 connection left')
      // Hold back the next listener data: the last data is older than the removal.
      await held.requested
      await expect(panel.getByRole('button', { name: 'Close now' })).toBeVisible()
      held.release()
      await expect(rowOf(page, address)).toContainText('1 left')
      await panel.getByRole('button', { name: 'Close now' }).press('Enter')
      await closed
      await expect(panel).toContainText('Closed on all nodes.')
      await expect(panel.getByRole('region', { name: 'Nodes' })).toBeFocused()
      await expect(panel.getByRole('tab')).toHaveText(['Status', 'Databases', 'Changes'])
      await expect(panel.getByRole('button', { name: 'Turn off' })).toBeHidden()
      await expect(await openTab(page, address, 'Changes')).toContainText('removed endpoint')
      const databases = await openTab(page, address, 'Databases')
      await expect(databases).toContainText('blog')
      await expect(databases.getByRole('button', { name: 'Edit mapping' })).toBeHidden()
      await expect(panel.getByRole('link', { name: 'Restore…' })).toBeVisible()
      await panel.getByRole('button', { name: 'Back to the list' }).click()
      await expect(panel).toBeHidden()
    },
  )
})

test('Tabs are in the URL, move by arrow keys, stay for the next endpoint, and Back closes', async ({
  page,
  gatehouse,
}) => {
  const { address } = await added(gatehouse, 'blog')
  const own = `tcp://127.0.0.1:${gatehouse.port}`
  await gatehouse.signIn(page, consolePath)
  await rowOf(page, address).focus()
  await page.keyboard.press('Enter')
  const panel = panelOf(page, address)
  await expect(panel.getByRole('heading', { name: address })).toBeFocused()
  await openTab(page, address, 'Databases')
  await expect(page).toHaveURL(/&tab=databases$/)
  for (const [key, tab] of [
    ['ArrowLeft', 'Status'],
    ['ArrowLeft', 'Changes'],
    ['ArrowRight', 'Status'],
    ['End', 'Changes'],
    ['Home', 'Status'],
  ] as const) {
    await page.keyboard.press(key)
    await expect(panel.getByRole('tab', { selected: true })).toHaveText(tab)
    await expect(panel.getByRole('tab', { name: tab })).toBeFocused()
  }
  await expect(page).not.toHaveURL(/tab=/)

  // The head stays while the content scrolls, and the next tab begins at its top.
  await openTab(page, address, 'Policy')
  await page.setViewportSize({ width: 1440, height: 600 })
  const last = panel.getByRole('button', { name: 'Edit: Limits' })
  await last.scrollIntoViewIfNeeded()
  await expect(panel.getByRole('button', { name: 'Turn off' })).toBeInViewport()
  const changes = await openTab(page, address, 'Changes')
  await expect(changes.getByRole('listitem').first()).toBeInViewport()
  await expect(changes).toContainText(`added endpoint ${address} for blog`)

  await rowOf(page, own).focus()
  await page.keyboard.press('Enter')
  await expect(panelOf(page, own).getByRole('tab', { selected: true })).toHaveText('Changes')
  await page.goBack()
  await expect(panel.getByRole('tab', { selected: true })).toHaveText('Changes')
  await page.goBack()
  await expect(panel).toBeHidden()
})

test('On a phone, a dialog that closes returns the focus to the panel behind it', async ({
  page,
  gatehouse,
}) => {
  const { address } = await added(gatehouse, 'blog')
  await page.setViewportSize({ width: 375, height: 812 })
  await gatehouse.signIn(page, panelPath(address, 'databases'))
  const panel = panelOf(page, address)
  const edit = panel.getByRole('button', { name: 'Edit mapping' })
  const form = page.getByRole('dialog', { name: `Mapping of ${address}` })
  await edit.press('Enter')
  await expect(form).toBeVisible()
  await page.keyboard.press('Escape')
  await expect(form).toBeHidden()
  await expect(edit).toBeFocused()

  await edit.press('Enter')
  await page.reload()
  await expect(form).toBeVisible()
  await page.keyboard.press('Escape')
  await expect(form).toBeHidden()
  await expect(panel.getByRole('heading', { name: address })).toBeFocused()

  // Actions that do not fit are in a menu.
  await panel.getByRole('button', { name: 'More actions' }).click()
  await page.getByRole('menuitem', { name: 'Remove' }).click()
  await expect(page.getByRole('dialog', { name: `Remove ${address}?` })).toBeVisible()
})
