import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Page } from '@playwright/test'
import { makeBlog, replaceOutside } from './support/page/documents-page.ts'
import { expectAccessible } from './support/page/expect-accessible.ts'
import { pressSequence } from './support/page/press-sequence.ts'
import { expect, freshTest as test } from './support/server/gatehouse.ts'

const PAGE = '/_console/webhooks'

const dialogOf = (page: Page, name: string) => page.getByRole('dialog', { name })
const toast = (page: Page) => page.getByRole('region', { name: 'Last change' })
const row = (page: Page) =>
  page.getByRole('row').filter({ has: page.getByRole('button', { name: 'search, details' }) })
const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true })

/** Opens a server that receives webhooks. `answer` may be replaced. */
async function openReceiver() {
  const bodies: string[] = []
  const receiver = {
    bodies,
    answer: (response: ServerResponse) => response.writeHead(204).end(),
    url: '',
    close: () => {
      server.close()
      server.closeAllConnections()
    },
  }
  const server = createServer(async (request, response) => {
    let body = ''
    for await (const part of request) body += part
    bodies.push(body)
    receiver.answer(response)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  receiver.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`
  return receiver
}

test('From a collection without a feed to deliveries that are read, failed and repeated', async ({
  page,
  gatehouse,
  browserErrors,
}) => {
  test.slow()
  browserErrors.allow(/^http 409 POST .*\/_api\/webhook$/)
  const receiver = await openReceiver()
  try {
    await gatehouse.restart({ GATEHOUSE_WEBHOOK_ALLOW: '127.0.0.1' })
    await makeBlog(gatehouse, [{ id: 'one', title: 'One' }])
    await gatehouse.signIn(page, '/_console/endpoints')
    await pressSequence(page, 'g', 'w')
    await expect(page.getByText('There are no webhooks yet.')).toBeVisible()
    await button(page, 'Add webhook').click()
    const form = dialogOf(page, 'Add a webhook')
    await expect(form.getByLabel('Name', { exact: true })).toBeFocused()
    await page.keyboard.press('Control+Enter')
    await expect(form.getByText('Choose a database.')).toBeVisible()
    await form.getByLabel('Name', { exact: true }).fill('search')
    await form.getByLabel('Database').selectOption('blog')
    await expect(form.getByText('In blog: articles')).toBeVisible()
    await form.getByLabel('Collections').fill('articles')
    await form.getByLabel('URL').fill(receiver.url)
    await page.keyboard.press('Control+Enter')
    await expect(form.getByText('articles has no feed.')).toBeVisible()
    await expectAccessible(page)
    await form.getByRole('button', { name: 'Turn on the feed' }).click()
    await expect(form.getByText('articles has no feed.')).toBeHidden()
    await form.getByRole('button', { name: 'Add webhook' }).click()

    // The secret is shown once.
    const secret = dialogOf(page, 'Webhook added')
    await expect(secret.getByText(/^whsec_/)).toBeVisible()
    await page.keyboard.press('Escape')
    await expect(secret.getByText('You haven’t copied the secret yet.')).toBeVisible()
    await secret.getByRole('button', { name: 'Close without copying' }).click()
    await expect(secret).toBeHidden()
    await expect(row(page)).toContainText('Active')
    await expect(row(page)).toContainText('Up to date')
    await expect(page.getByText('whsec_')).toHaveCount(0)

    await button(page, 'Send a test').click()
    await expect(page.getByText(/The test arrived: 204 in/)).toBeVisible()
    await replaceOutside(gatehouse, 'one', { title: 'Two' })
    const deliveries = page.getByRole('region', { name: 'Deliveries of search' })
    const delivery = deliveries.getByRole('listitem').filter({ hasText: '1 change of articles' })
    await expect(delivery).toContainText('Delivered')
    await expect(row(page)).toContainText('204')
    await delivery.getByText('1 change of articles').click()
    await expect(delivery.getByRole('region', { name: 'Request' })).toContainText('"Two"')
    await expect(delivery.getByRole('region', { name: 'Response: 204' })).toBeVisible()
    await expectAccessible(page)
    const before = receiver.bodies.length
    await delivery.getByRole('button', { name: 'Deliver again' }).click()
    await expect(delivery.getByText(/Sent again: 204 in/)).toBeVisible()
    expect(receiver.bodies.length).toBe(before + 1)

    // A failure is retried, and a paused webhook continues from its position.
    receiver.answer = (response) => response.writeHead(500).end('no')
    await replaceOutside(gatehouse, 'one', { title: 'Three' })
    await expect(row(page)).toContainText('Failing')
    await expect(row(page)).toContainText('1 change behind')
    await button(page, 'Pause').click()
    await expect(row(page)).toContainText('Paused')
    await expect(page.getByText(/^Paused by /)).toBeVisible()
    await replaceOutside(gatehouse, 'one', { title: 'Four' })
    await expect(row(page)).toContainText('2 changes behind')
    receiver.answer = (response) => response.writeHead(200).end('thanks')
    await button(page, 'Resume').click()
    await expect(row(page)).toContainText('Active')
    await expect(row(page)).toContainText('Up to date')
    expect(receiver.bodies.at(-1)).toContain('Four')
  } finally {
    receiver.close()
  }
})

test('A webhook is edited, its secret is rotated, and it is deleted', async ({
  page,
  gatehouse,
  browserErrors,
}) => {
  browserErrors.allow(/^http 400 PATCH .*\/_api\/webhook\/search$/)
  // The page may read the deliveries at the moment of the deletion.
  browserErrors.allow(/^http 404 GET .*\/_api\/webhook\/search\/delivery$/)
  await makeBlog(gatehouse, [{ id: 'one' }])
  await gatehouse.put('/_db/blog/_feed/articles', {})
  await gatehouse.post('/_db/_system/_api/webhook', {
    name: 'search',
    url: 'https://hook.example.org/',
    database: 'blog',
    collections: ['articles'],
  })
  await gatehouse.signIn(page, `${PAGE}?open=search`)
  await button(page, 'Edit…').click()
  const form = dialogOf(page, 'Edit search')
  await form.getByLabel('URL').fill('http://127.0.0.1:9/')
  await page.keyboard.press('Control+Enter')
  await expect(form.getByLabel('URL')).toHaveAccessibleDescription(/The address is not public/)
  await form.getByLabel('URL').fill('https://other.example.org/')
  await form.getByLabel('Filter').fill('year:gte=2000')
  await page.keyboard.press('Control+Enter')
  await expect(toast(page)).toContainText('Webhook search changed')
  await expect(row(page)).toContainText('https://other.example.org/')
  await expect(page.getByText('year:gte=2000')).toBeVisible()

  // Back does not lose a secret that is not copied.
  await button(page, 'Rotate secret…').click()
  await dialogOf(page, 'Rotate the secret of search?')
    .getByRole('button', { name: 'Rotate secret' })
    .click()
  const secret = dialogOf(page, 'Secret rotated')
  await expect(secret.getByText(/^whsec_/)).toBeVisible()
  await page.goBack()
  await expect(secret.getByText('You haven’t copied the secret yet.')).toBeVisible()
  await secret.getByRole('button', { name: 'Copy secret' }).click()
  await secret.getByRole('button', { name: 'Done' }).click()
  await expect(page.getByText('The previous one also signs until')).toBeVisible()

  await button(page, 'Delete webhook').click()
  await dialogOf(page, 'Delete webhook search?')
    .getByRole('button', { name: 'Delete webhook' })
    .click()
  await expect(toast(page)).toContainText('Webhook search deleted')
  await expect(page.getByText('There are no webhooks yet.')).toBeVisible()
})
