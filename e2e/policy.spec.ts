import type { Page } from '@playwright/test'
import { addBlog } from './support/add-blog.ts'
import { consolePath, rowOf } from './support/page/endpoints-page.ts'
import { expect, type Gatehouse, test } from './support/server/gatehouse.ts'

const API = '/_db/_system/_api'

const at = (key: string, address: string) =>
  `${consolePath}?${new URLSearchParams({ open: address, [key]: address })}`
const policyForm = (page: Page, address: string) =>
  page.getByRole('dialog', { name: `Policy of ${address}` })
const policyOf = (page: Page, address: string) =>
  page.getByRole('dialog', { name: address, exact: true }).getByRole('region', { name: 'Policy' })
const toast = (page: Page) => page.getByRole('region', { name: 'Last change' })

const pathOf = (address: string) => `${API}/policy?${new URLSearchParams({ endpoint: address })}`

/** Returns the stored policy; undefined if the defaults apply. */
const stored = async (gatehouse: Gatehouse, address: string) =>
  ((await gatehouse.get(pathOf(address))).body as { policy?: unknown }).policy

test('A policy is edited, tested, saved, compared after a conflict, and undone', async ({
  page,
  gatehouse,
  browserErrors,
}) => {
  browserErrors.allow(/^http (400|412) PUT .*\/_api\/policy/)
  const { address, url } = await addBlog(gatehouse)
  await gatehouse.signIn(page, at('open', address))
  await expect(policyOf(page, address)).toContainText('The defaults apply')
  await policyOf(page, address).getByRole('button', { name: 'Edit policy' }).click()
  const form = policyForm(page, address)
  await form.getByText('Read-only', { exact: true }).click()
  await form.getByRole('radio', { name: 'Read these collections' }).check()
  await form.getByLabel('Collections that can be read').fill('articles')
  await form.getByLabel('Blocked').fill('198.51.100.7\nnowhere')
  await expect(form).toContainText('Everyone can read articles without a token.')

  // The edited policy decides on a request that is not sent.
  await form.getByLabel('Blocked').fill('198.51.100.7')
  const outcome = form.getByRole('region', { name: 'Test a request' }).getByRole('status')
  await form.getByLabel('Method').selectOption('DELETE')
  await form.getByLabel('Credential').selectOption('Role admin')
  await form.getByLabel('Path').fill('/articles/one')
  await form.getByLabel('Path').press('Enter')
  await expect(outcome).toHaveText('Rejected with 403: Documents can only be read.')
  await form.getByLabel('Method').selectOption('GET')
  await form.getByLabel('Credential').selectOption('No token')
  await form.getByRole('button', { name: 'Test' }).click()
  await expect(outcome).toHaveText('Admitted: every rule permits the request.')
  expect((await fetch(url)).status).toBe(401)

  // The server's error is shown at its field.
  await form.getByLabel('Blocked').fill('198.51.100.7\nnowhere')
  await page.keyboard.press('Control+Enter')
  await expect(form.getByLabel('Blocked')).toBeFocused()
  await expect(form).toContainText('"nowhere" is not an IP address or a CIDR range.')
  await form.getByLabel('Blocked').fill('')
  await page.keyboard.press('Control+Enter')
  await expect(form).toBeHidden()
  await expect(toast(page)).toContainText(`Policy of ${address} saved`)
  await expect(policyOf(page, address)).toContainText('Documents can only be read.')
  expect((await fetch(url)).status).toBe(200)
  expect((await fetch(url, { method: 'DELETE' })).status).not.toBe(200)
  await toast(page).getByRole('button', { name: 'Undo' }).click()
  await expect(toast(page)).toContainText(`Previous policy of ${address} restored`)
  expect(await stored(gatehouse, address)).toBeUndefined()

  // Someone else sets a rule meanwhile.
  await policyOf(page, address).getByRole('button', { name: 'Edit policy' }).click()
  await form.getByLabel('Requests per second').fill('5')
  await gatehouse.put(pathOf(address), { note: 'Theirs', readOnly: true })
  const conflict = form.getByRole('alert').filter({ hasText: 'Theirs (saved)' })
  await expect(conflict).toContainText('Note: Theirs')
  await expect(conflict).toContainText('Requests: 5/s for each client')
  await conflict.getByRole('button', { name: 'Keep mine' }).click()
  await page.keyboard.press('Control+Enter')
  await expect(form).toBeHidden()
  await expect(policyOf(page, address)).toContainText('Each client can send 5 requests per second')
  expect(await stored(gatehouse, address)).toEqual({ rateLimit: { requestsPerSecond: 5 } })

  // Another person removes the endpoint while the form is open, so no policy is stored for it.
  await policyOf(page, address).getByRole('button', { name: 'Edit policy' }).click()
  await form.getByLabel('Note', { exact: true }).fill('Mine')
  await gatehouse.delete(`${API}/endpoint?${new URLSearchParams({ endpoint: address })}`)
  await expect(form).toContainText('Someone removed this endpoint.')
  await page.keyboard.press('Control+Enter')
  await expect(form.getByRole('alert').filter({ hasText: 'Someone removed' })).toBeFocused()
  expect(await stored(gatehouse, address)).toBeUndefined()
})

test('A policy is tried and kept, and an endpoint is turned off and on', async ({
  page,
  gatehouse,
}) => {
  const { address, url } = await addBlog(gatehouse)
  await gatehouse.signIn(page, at('policy', address))
  const form = policyForm(page, address)
  await form.getByRole('radio', { name: 'Read all collections' }).check()
  await form.getByRole('button', { name: 'Try for 60 seconds' }).click()
  const banner = page.getByText(`Trying a policy of ${address}:`)
  await expect(banner).toContainText(/the previous one returns in [0-9]+ s/)
  expect((await fetch(url)).status).toBe(200)
  await page.reload()
  await expect(banner).toBeVisible()
  await page.goto('/_console/data')
  await page.getByRole('button', { name: 'Keep', exact: true }).click()
  await expect(banner).toBeHidden()
  await expect(toast(page)).toContainText(`Policy of ${address} kept`)
  expect(await stored(gatehouse, address)).toEqual({ anonymous: { read: true } })

  await page.goto(at('open', address))
  await policyOf(page, address).getByRole('button', { name: 'Turn off' }).click()
  const question = page.getByRole('dialog', { name: `Turn off ${address}?` })
  await expect(question).toContainText('New connections will be refused immediately.')
  await question.getByRole('button', { name: 'Turn off' }).click()
  // The connection of the request above drains in a row of its own, below.
  await expect(rowOf(page, address).first()).toContainText('Off')
  await expect(fetch(url)).rejects.toThrow()
  await policyOf(page, address).getByRole('button', { name: 'Turn on' }).click()
  await page.getByRole('button', { name: 'Turn on', exact: true }).last().click()
  await expect(rowOf(page, address)).toContainText('Listening')
  expect((await fetch(url)).status).toBe(200)
})

test('A policy that locks out its author is tried, and the page recovers', async ({
  page,
  gatehouse,
  browserErrors,
}) => {
  browserErrors.allow(/^http 404 GET /)
  const own = `tcp://127.0.0.1:${gatehouse.port}`
  const port = await gatehouse.freePort()
  await gatehouse.post(`${API}/endpoint`, { endpoint: `tcp://127.0.0.1:${port}`, databases: [] })
  await page.clock.install()
  await gatehouse.signIn(page, at('policy', own))
  const form = policyForm(page, own)
  await form.getByText('None here', { exact: true }).click()
  await expect(form).toContainText('“Administration” removes the console from this endpoint')
  await expect(form.getByRole('button', { name: 'Save without trying' })).toBeVisible()
  await page.keyboard.press('Control+Enter')
  const banner = page.getByText(`With the policy that you try, this page cannot reach ${own}.`)
  await expect(banner).toContainText(/The previous policy returns in [0-9]+ s/)

  // Ends the trial, as its time does.
  const elsewhere = `http://127.0.0.1:${port}${pathOf(own)}`
  expect((await gatehouse.delete(elsewhere)).status).toBe(200)
  await page.clock.fastForward(60_000)
  await expect(banner).toBeHidden()
  await expect(toast(page)).toContainText(`The previous policy of ${own} has returned`)
  await expect(rowOf(page, own)).toContainText('Listening')
})
