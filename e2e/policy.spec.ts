import type { Page } from '@playwright/test'
import { addBlog } from './support/add-blog.ts'
import { consolePath, panelOf, rowOf } from './support/page/endpoints-page.ts'
import { expect, type Gatehouse, test } from './support/server/gatehouse.ts'

const API = '/_db/_system/_api'

const at = (parameters: Record<string, string>) =>
  `${consolePath}?${new URLSearchParams(parameters)}`
const formOf = (page: Page, section: string, address: string) =>
  page.getByRole('dialog', { name: `${section} · ${address}` })
const toast = (page: Page) => page.getByRole('region', { name: 'Last change' })

const pathOf = (address: string) => `${API}/policy?${new URLSearchParams({ endpoint: address })}`

/** Returns the stored policy; undefined if the defaults apply. */
const stored = async (gatehouse: Gatehouse, address: string) =>
  ((await gatehouse.get(pathOf(address))).body as { policy?: unknown }).policy

test('A section of a policy is edited, saved, compared after a conflict, and undone', async ({
  page,
  gatehouse,
  browserErrors,
}) => {
  browserErrors.allow(/^http (400|412) PUT .*\/_api\/policy/)
  const { address, url } = await addBlog(gatehouse)
  // Without a section, the link opens the tab.
  await gatehouse.signIn(page, at({ policy: address }))
  const policy = panelOf(page, address).getByRole('tabpanel', { name: 'Policy' })
  const sectionOf = (name: string) => policy.getByRole('region', { name })
  const edit = (name: string) => sectionOf(name).getByRole('button', { name: 'Edit' }).click()
  await expect(sectionOf('What clients may do')).toContainText('Documentsread and write')

  await edit('What clients may do')
  let form = formOf(page, 'What clients may do', address)
  await form.getByText('Read-only', { exact: true }).click()
  await form.getByRole('radio', { name: 'Read these collections' }).check()
  await page.keyboard.press('Control+Enter')
  await expect(form).toContainText('Enter at least one collection.')
  await form.getByLabel('Collections that can be read').fill('posts')
  await expect(form).toContainText('No database of this endpoint has a collection posts.')
  await form.getByLabel('Collections that can be read').fill('')
  await form.getByRole('button', { name: 'Add articles' }).click()
  await expect(form).toContainText('Everyone can read articles without a token.')
  await expect(form).toContainText('Documents: read-only (was read and write)')
  expect((await fetch(url)).status).toBe(401)
  await page.keyboard.press('Control+Enter')
  await expect(form).toBeHidden()
  await expect(toast(page)).toContainText(`Policy of ${address} saved`)
  await expect(sectionOf('What clients may do')).toContainText('Documentsread-only')
  await expect(sectionOf('What clients may do').getByRole('button')).toBeFocused()
  expect((await fetch(url)).status).toBe(200)
  expect((await fetch(url, { method: 'DELETE' })).status).not.toBe(200)
  await toast(page).getByRole('button', { name: 'Undo' }).click()
  await expect(toast(page)).toContainText(`Previous policy of ${address} restored`)
  expect(await stored(gatehouse, address)).toBeUndefined()

  // The server's error is shown at its field.
  await edit('Who may connect')
  form = formOf(page, 'Who may connect', address)
  await form.getByLabel('Blocked').fill('198.51.100.7\nnowhere')
  await page.keyboard.press('Control+Enter')
  await expect(form.getByLabel('Blocked')).toBeFocused()
  await expect(form).toContainText('"nowhere" is not an IP address or a CIDR range.')
  await page.keyboard.press('Escape')

  // Someone else changes another section, which stays, and then this one.
  await edit('Limits')
  form = formOf(page, 'Limits', address)
  await form.getByLabel('Requests per second').fill('5')
  await gatehouse.put(pathOf(address), { note: 'Theirs' })
  await expect(panelOf(page, address)).toContainText('Theirs')
  await expect(form.getByText('Theirs (saved)')).toBeHidden()
  await gatehouse.put(pathOf(address), { note: 'Theirs', rateLimit: { requestsPerSecond: 9 } })
  const conflict = form.getByRole('alert').filter({ hasText: 'Theirs (saved)' })
  await expect(conflict).toContainText('Requests: 9/s for each client')
  await expect(conflict).toContainText('Requests: 5/s for each client')
  await conflict.getByRole('button', { name: 'Keep mine' }).click()
  await page.keyboard.press('Control+Enter')
  await expect(form).toBeHidden()
  await expect(sectionOf('Limits')).toContainText('Requests5/s for each client')
  expect(await stored(gatehouse, address)).toEqual({
    note: 'Theirs',
    rateLimit: { requestsPerSecond: 5 },
  })

  // Another person removes the endpoint while the form is open, so no policy is stored for it.
  await edit('General')
  form = formOf(page, 'General', address)
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
  await gatehouse.signIn(page, at({ open: address, policy: address, section: 'documents' }))
  const form = formOf(page, 'What clients may do', address)
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

  await page.goto(at({ open: address }))
  const panel = panelOf(page, address)
  await panel.getByRole('button', { name: 'Turn off' }).click()
  const question = page.getByRole('dialog', { name: `Turn off ${address}?` })
  await expect(question).toContainText('New connections will be refused immediately.')
  await question.getByRole('button', { name: 'Turn off' }).click()
  // The connection of the request above drains in a row of its own, below.
  await expect(rowOf(page, address).first()).toContainText('Off')
  await expect(fetch(url)).rejects.toThrow()
  await expect(panel).toContainText('Turned off by its policy.')
  await panel.getByRole('button', { name: 'Turn on' }).click()
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
  await gatehouse.signIn(page, at({ policy: own, section: 'administration' }))
  const form = formOf(page, 'Administration', own)
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
