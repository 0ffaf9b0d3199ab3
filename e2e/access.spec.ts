import { rowOf } from './support/endpoints-page.ts'
import { watchFaults } from './support/faults.ts'
import { expect, test } from './support/gatehouse.ts'
import { withProvider } from './support/with-provider.ts'

test('A token is made, shown once, used by a program, and revoked', async ({ page, gatehouse }) => {
  await gatehouse.signIn(page, '/_console/access/tokens')
  await page.getByRole('button', { name: 'Make token' }).click()
  const form = page.getByRole('dialog', { name: 'Make token' })
  await expect(form.getByLabel('Name')).toBeFocused()
  await page.keyboard.press('Control+Enter')
  await expect(form.getByLabel('Name')).toHaveAccessibleDescription(/The name is missing/)
  await expect(form.getByLabel('Name')).toBeFocused()
  await form.getByLabel('Name').fill('nightly backup')
  await form.getByLabel('Lasts').selectOption('30 days')
  await page.keyboard.press('Control+Enter')

  const made = page.getByRole('dialog', { name: 'nightly backup was made' })
  await expect(made.getByText('You will not see it again.')).toBeVisible()
  const token = (await made.locator('code').first().textContent()) ?? ''
  await expect(made.locator('code').last()).toContainText(`Authorization: Bearer ${token}`)
  const url = `${gatehouse.url}/_db/_system/_api/endpoint`
  const ask = () => fetch(url, { headers: { authorization: `Bearer ${token}` } })
  expect((await ask()).status).toBe(200)
  const change = await fetch(url, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}` },
    body: '{}',
  })
  expect(change.status).toBe(403)

  await made.getByRole('button', { name: 'Done' }).click()
  const row = page.getByRole('row').filter({ hasText: 'nightly backup' })
  await expect(row).toContainText(`${token.slice(0, 8)}…`)
  await expect(row).toContainText('Viewer')
  await expect(page.getByText(token)).toBeHidden()

  await row.getByRole('button', { name: 'Revoke nightly backup' }).click()
  const question = page.getByRole('dialog', { name: 'Revoke nightly backup?' })
  await question.getByRole('button', { name: 'Revoke token' }).click()
  await expect(row).toBeHidden()
  expect((await ask()).status).toBe(401)
})

test('Somebody new waits for a role, is made viewer, and may then read and not change', async ({
  page,
  gatehouse,
  browser,
}) => {
  // Two people sign in, and one waits for a look that comes every 15 s.
  test.slow()
  const provider = await withProvider(gatehouse)
  const context = await browser.newContext()
  const faults = await watchFaults(context)
  faults.allow(/^http 401 /)
  const ada = await context.newPage()
  await ada.goto('/_console/endpoints')
  await ada.getByRole('button', { name: 'Sign in with Example ID' }).click()
  await expect(ada.getByRole('heading', { name: 'Waiting for a role' })).toBeVisible()
  await expect(ada.getByText('You are signed in as oidc:')).toBeVisible()

  await gatehouse.signIn(page, '/_console/access/people')
  const waiting = page.getByRole('table', { name: 'People who wait for a role' })
  await waiting.getByRole('combobox', { name: /^Role of oidc:/ }).selectOption('Viewer')
  const question = page.getByRole('dialog', { name: /^Make oidc:.* viewer\?$/ })
  await expect(question).toContainText('signs in again as viewer.')
  await question.getByRole('button', { name: 'Make viewer' }).click()
  await expect(waiting).toBeHidden()
  // Another role ended the sessions: nothing is there to be looked at.
  const person = page.getByRole('row').filter({ hasText: 'oidc:' })
  await expect(person.getByRole('cell').last()).toHaveText('None')
  await expect(person.getByRole('button')).toHaveCount(0)

  // The waiting page looks every 15 s, and tells by itself.
  await expect(ada.getByRole('heading', { name: 'Sign in again' })).toBeVisible({ timeout: 45_000 })
  await ada.getByRole('link', { name: 'Sign in again' }).click()
  await ada.getByRole('button', { name: 'Sign in with Example ID' }).click()
  const own = `tcp://127.0.0.1:${gatehouse.port}`
  await expect(rowOf(ada, own)).toContainText('Listening')
  await expect(ada.getByText('You are a viewer: endpoints are changed by operators.')).toBeVisible()
  expect(faults.list()).toEqual([])
  await context.close()
  provider.close()
})

test('The last admin stays one, and the page says why', async ({
  page,
  gatehouse,
  browser,
  faults,
}) => {
  faults.allow(/^http 409 PATCH /)
  const provider = await withProvider(gatehouse)
  const context = await browser.newContext()
  const ada = await context.newPage()
  await ada.goto('/_console/')
  await ada.getByRole('button', { name: 'Sign in with Example ID' }).click()
  await expect(ada.getByRole('heading', { name: 'Waiting for a role' })).toBeVisible()
  await context.close()

  await gatehouse.signIn(page, '/_console/access/people')
  const role = page.getByRole('combobox', { name: /^Role of oidc:/ })
  await role.selectOption('Admin')
  await page.getByRole('button', { name: 'Make admin' }).click()
  await expect(page.getByRole('dialog')).toBeHidden()
  await expect(role).toHaveValue('admin')
  await role.selectOption('Viewer')
  const question = page.getByRole('dialog')
  await question.getByRole('button', { name: 'Make viewer' }).click()
  await expect(question.getByRole('alert').filter({ hasText: 'the last admin' })).toBeVisible()
  await question.getByRole('button', { name: 'Keep admin' }).click()
  await expect(role).toHaveValue('admin')
  provider.close()
})

test('The providers tell what to register, and what to set', async ({ page, gatehouse }) => {
  await gatehouse.signIn(page, '/_console/access/providers')
  await page.getByText('GitHub', { exact: true }).click()
  await expect(page.getByText(`${gatehouse.url}/_oauth2/github/auth`)).toBeVisible()
  await expect(page.getByText('GATEHOUSE_GITHUB_CLIENT_ID=…')).toBeVisible()
})
