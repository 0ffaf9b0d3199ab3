import { connect, type Socket } from 'node:net'
import { addDatabases, chooseInMenu, consolePath, rowOf } from '../support/page/endpoints-page.ts'
import { expectAccessibleInBothThemes } from '../support/page/expect-accessible.ts'
import { expect, freshTest, test } from '../support/server/gatehouse.ts'
import { listen } from '../support/server/listen.ts'

/** Keeps a connection to a port of 127.0.0.1 open, after a request: without one it would time out. */
async function openConnection(port: number): Promise<Socket> {
  const socket = connect(port, '127.0.0.1').on('error', () => {})
  socket.write('GET /_api/health HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n')
  // Read until its end, because an unread response would delay the event "close".
  await new Promise((resolve) => socket.once('data', resolve))
  return socket
}

const isClosed = (socket: Socket) =>
  new Promise<void>((resolve) =>
    socket.closed ? resolve() : socket.once('close', () => resolve()),
  )

test('The removal of a busy endpoint states its traffic', async ({ page, gatehouse }) => {
  const port = await gatehouse.freePort()
  const address = `tcp://127.0.0.1:${port}`
  await gatehouse.post('/_db/_system/_api/endpoint', { endpoint: address, databases: ['shop'] })
  await gatehouse.signIn(page, consolePath)
  let going = true
  const traffic = (async () => {
    while (going) await gatehouse.get(`http://127.0.0.1:${port}/_api/health`)
  })()
  await chooseInMenu(page, address, 'Remove endpoint')
  await expect(page.getByRole('dialog', { name: `Remove ${address}?` })).toContainText(
    /It serves [0-9,.]+ requests\/s over [0-9]+ connections?\./,
  )
  going = false
  await traffic
})

test('A removal states its consequences and can be undone', async ({ page, gatehouse }) => {
  await gatehouse.post('/_db/_system/_api/database', { name: 'shop' })
  const own = `tcp://127.0.0.1:${gatehouse.port}`
  await gatehouse.post('/_db/_system/_api/endpoint', { endpoint: own, databases: ['_system'] })
  const port = await gatehouse.freePort()
  const address = `tcp://127.0.0.1:${port}`
  await gatehouse.post('/_db/_system/_api/endpoint', { endpoint: address, databases: ['shop'] })
  const open = await Promise.all([1, 2, 3].map(() => openConnection(port)))
  await gatehouse.signIn(page, consolePath)

  await chooseInMenu(page, address, 'Remove endpoint')
  const question = page.getByRole('dialog', { name: `Remove ${address}?` })
  await expect(question).toContainText(
    'New connections will be refused immediately. The 3 open connections will have 1 s to finish.',
  )
  await expect(question).toContainText('No other endpoint serves shop.')
  await question.getByRole('button', { name: 'Remove endpoint' }).click()
  await expect(question).toBeHidden()
  // Hovering over the bar pauses its timeout.
  const bar = page.getByRole('region', { name: 'Last change' })
  await bar.hover()
  await Promise.all(open.map(isClosed))
  await expect(rowOf(page, address)).toBeHidden()
  await expect(gatehouse.get(`http://127.0.0.1:${port}/`)).rejects.toThrow()

  await expect(bar).toContainText(`${address} removed`)
  await bar.getByRole('button', { name: 'Undo' }).click()
  await expect(bar).toContainText(`${address} restored`)
  await expect(rowOf(page, address)).toContainText('shop')
  await expect(rowOf(page, address)).toContainText('Listening')
  await expect(rowOf(page, address)).toBeFocused()
  expect(await gatehouse.get(`http://127.0.0.1:${port}/`)).toMatchObject({
    status: 200,
    body: { database: 'shop' },
  })
})

test('Delete asks for confirmation, and Ctrl Z undoes the removal', async ({ page, gatehouse }) => {
  const address = `tcp://127.0.0.1:${await gatehouse.freePort()}`
  await gatehouse.post('/_db/_system/_api/endpoint', { endpoint: address, databases: ['a', 'b'] })
  await gatehouse.signIn(page, consolePath)
  await rowOf(page, address).focus()
  await page.keyboard.press('Delete')
  await expect(page.getByRole('button', { name: 'Keep it' })).toBeFocused()
  await page.keyboard.press('Tab')
  await page.keyboard.press('Enter')
  await expect(rowOf(page, address)).toBeHidden()
  // The focus moves to the row that took its place, and keys act there.
  await expect(rowOf(page, `tcp://127.0.0.1:${gatehouse.port}`)).toBeFocused()
  // The event may remove the row before the response arrives, which offers the undo.
  await expect(page.getByRole('region', { name: 'Last change' })).toBeVisible()
  await page.keyboard.press('Control+z')
  await expect(rowOf(page, address)).toContainText('Listening')
  expect((await gatehouse.get('/_db/_system/_api/endpoint')).body).toContainEqual({
    endpoint: address,
    databases: ['a', 'b'],
  })
})

test('After a removal, the focus is on the displayed row that takes its place', async ({
  page,
  gatehouse,
}) => {
  const ports = [await gatehouse.freePort(), await gatehouse.freePort(), await gatehouse.freePort()]
  const [first = '', hidden = '', last = ''] = ports
    .toSorted((a, b) => a - b)
    .map((port) => `tcp://127.0.0.1:${port}`)
  const add = (endpoint: string, name: string) =>
    gatehouse.post('/_db/_system/_api/endpoint', { endpoint, databases: [name] })
  await add(first, 'shop')
  await add(hidden, 'news')
  await add(last, 'shop')
  await gatehouse.signIn(page, `${consolePath}?q=shop`)
  await rowOf(page, first).focus()
  await page.keyboard.press('Delete')
  await page.getByRole('button', { name: 'Remove endpoint' }).click()
  await expect(rowOf(page, first)).toBeHidden()
  await expect(rowOf(page, last)).toBeFocused()
})

test('A failed undo shows the reason and can be retried', async ({
  page,
  gatehouse,
  browserErrors,
}) => {
  browserErrors.allow(/^http 409 POST .*\/_api\/endpoint$/)
  const port = await gatehouse.freePort()
  const address = `tcp://127.0.0.1:${port}`
  await gatehouse.post('/_db/_system/_api/endpoint', { endpoint: address, databases: ['blog'] })
  await gatehouse.signIn(page, consolePath)
  await chooseInMenu(page, address, 'Remove endpoint')
  await page.getByRole('button', { name: 'Remove endpoint' }).click()
  const bar = page.getByRole('region', { name: 'Last change' })
  await bar.hover()
  const other = await listen(port)
  await bar.getByRole('button', { name: 'Undo' }).click()
  await expect(bar).toContainText(`${address} could not be restored`)
  await expect(bar).toContainText(`Port ${port} on 127.0.0.1 is used by another program.`)
  await other.close()
  await bar.getByRole('button', { name: 'Try again' }).click()
  await expect(rowOf(page, address)).toContainText('Listening')
})

test('The undo disappears after ten seconds, which pause on hover and focus', async ({
  page,
  gatehouse,
}) => {
  const address = `tcp://127.0.0.1:${await gatehouse.freePort()}`
  await gatehouse.post('/_db/_system/_api/endpoint', { endpoint: address, databases: ['blog'] })
  await page.clock.install()
  await gatehouse.signIn(page, consolePath)
  await chooseInMenu(page, address, 'Remove endpoint')
  await page.getByRole('button', { name: 'Remove endpoint' }).click()
  const bar = page.getByRole('region', { name: 'Last change' })
  await bar.hover()
  await expectAccessibleInBothThemes(page)
  await page.clock.fastForward(11_000)
  await expect(bar).toBeVisible()
  await bar.getByRole('button', { name: 'Undo' }).focus()
  await page.getByRole('heading', { name: 'Endpoints' }).hover()
  await page.clock.fastForward(11_000)
  await expect(bar).toBeVisible()
  await page.getByRole('searchbox').focus()
  await page.clock.fastForward(11_000)
  await expect(bar).toBeHidden()
  expect((await gatehouse.get('/_db/_system/_api/endpoint')).body).toHaveLength(1)
})

freshTest(
  'After the endpoint of the page is removed, the console continues at another',
  async ({ page, gatehouse, browserErrors }) => {
    browserErrors.allow(/^request failed /)
    const port = await gatehouse.freePort()
    const other = `tcp://127.0.0.1:${port}`
    const own = `tcp://127.0.0.1:${gatehouse.port}`
    await gatehouse.post('/_db/_system/_api/endpoint', { endpoint: other, databases: [] })
    await gatehouse.signIn(page, consolePath)
    await chooseInMenu(page, own, 'Remove endpoint')
    const question = page.getByRole('dialog', { name: `Remove ${own}?` })
    await expect(question.getByRole('list', { name: 'Consequences' })).toContainText(
      'This page will stop working.',
    )
    await expect(question.getByRole('link', { name: `Open the console at ${other}` })).toBeVisible()
    await question.getByRole('button', { name: 'Remove and disconnect' }).click()
    const bar = page.getByRole('region', { name: 'Last change' })
    await expect(bar).toContainText(`${own} removed`)
    await expect(bar.getByRole('button', { name: 'Undo' })).toBeHidden()
    await bar.getByRole('link', { name: `Open the console at ${other}` }).click()
    await expect(page).toHaveURL(`http://127.0.0.1:${port}${consolePath}`)
    await expect(rowOf(page, other)).toContainText('Listening')
    await expect(rowOf(page, own)).toBeHidden()
  },
)

freshTest(
  'A page whose endpoint another client removes links to the console at another endpoint',
  async ({ page, gatehouse, browserErrors }) => {
    browserErrors.allow(/^request failed /)
    const other = `tcp://127.0.0.1:${await gatehouse.freePort()}`
    const own = `tcp://127.0.0.1:${gatehouse.port}`
    await gatehouse.post('/_db/_system/_api/endpoint', { endpoint: other, databases: [] })
    await gatehouse.signIn(page, consolePath)
    await expect(rowOf(page, other)).toBeVisible()
    await gatehouse.delete(`/_db/_system/_api/endpoint/${encodeURIComponent(own)}`)
    const banner = page.getByRole('status').filter({ hasText: 'No connection since' })
    await expectAccessibleInBothThemes(page)
    await banner.getByRole('link', { name: `Open the console at ${other}` }).click()
    await expect(rowOf(page, other)).toContainText('Listening')
    await expect(rowOf(page, own)).toBeHidden()
  },
)

freshTest(
  'A mapping that disconnects the page is confirmed, and the console continues at another endpoint',
  async ({ page, gatehouse, browserErrors }) => {
    browserErrors.allow(/^(request failed|http 404) /)
    await gatehouse.post('/_db/_system/_api/database', { name: 'blog' })
    const port = await gatehouse.freePort()
    const other = `tcp://127.0.0.1:${port}`
    const own = `tcp://127.0.0.1:${gatehouse.port}`
    await gatehouse.signIn(page, consolePath)
    await chooseInMenu(page, own, 'Edit mapping')
    const dialog = page.getByRole('dialog', { name: `Mapping of ${own}` })
    await dialog.getByText('Only these').click()
    await addDatabases(page, 'blog')
    await expect(dialog).toContainText('Without this endpoint, no one can sign in')
    await dialog.getByRole('button', { name: 'Save mapping' }).click()
    await expect(dialog.getByRole('alert').filter({ hasText: 'no one can sign in' })).toBeFocused()

    await gatehouse.post('/_db/_system/_api/endpoint', { endpoint: other, databases: [] })
    await expect(dialog.getByRole('list', { name: 'Consequences' })).toContainText(
      'You are connected through this endpoint. This page will stop working.',
    )
    await expect(dialog.getByRole('link', { name: `Open the console at ${other}` })).toBeVisible()
    await dialog.getByRole('button', { name: 'Save and disconnect' }).click()
    const bar = page.getByRole('region', { name: 'Last change' })
    await expect(bar).toContainText(`Mapping of ${own} saved`)
    await expect(bar.getByRole('button', { name: 'Undo' })).toBeHidden()
    await bar.getByRole('link', { name: `Open the console at ${other}` }).click()
    await expect(page).toHaveURL(`http://127.0.0.1:${port}${consolePath}`)
    await expect(rowOf(page, own)).toContainText('blog')
  },
)
