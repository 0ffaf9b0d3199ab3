import { startTestProvider } from '../server/oauth2/providers/provider.testing.ts'
import { watchBrowserErrors } from './support/page/browser-errors.ts'
import { rowOf } from './support/page/endpoints-page.ts'
import { expectAccessible } from './support/page/expect-accessible.ts'
import { holdRequests } from './support/page/hold-requests.ts'
import { expect, freshTest, test } from './support/server/gatehouse.ts'
import { withProvider } from './support/server/with-provider.ts'

test('A token is created, shown once, used by a program and revoked', async ({
  page,
  gatehouse,
}) => {
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
  await gatehouse.signIn(page, '/_console/access/tokens')
  const databases = await holdRequests(page, /\/_api\/database$/)
  await page.getByRole('button', { name: 'Create token' }).click()
  const form = page.getByRole('dialog', { name: 'Create token' })
  await expect(form.getByLabel('Name')).toBeFocused()
  // The first of several invalid fields gets the focus.
  await form.getByLabel('Only these').check()
  await page.keyboard.press('Control+Enter')
  await expect(form.getByLabel('Name')).toHaveAccessibleDescription(/Enter a name/)
  await expect(form.getByText('Choose at least one database')).toBeVisible()
  await expect(form.getByLabel('Name')).toBeFocused()
  await form.getByLabel('Name').fill('nightly backup')
  await page.keyboard.press('Control+Enter')
  // While the names of the databases are read, the error gets the focus.
  await expect(form.getByText('Choose at least one database')).toBeFocused()
  await expect(form.getByRole('status').getByText('Loading the databases…')).toBeAttached()
  databases.release()
  await expect(form.getByRole('checkbox')).toHaveCount(1)
  await page.keyboard.press('Control+Enter')
  await expect(form.getByRole('checkbox').first()).toBeFocused()
  for (let at = 1; at <= 8; at++) {
    await gatehouse.post('/_db/_system/_api/database', { name: `shop${at}` })
  }
  const filter = form.getByRole('searchbox', { name: 'Filter databases' })
  await filter.fill('shop7')
  await expect(form.getByRole('checkbox')).toHaveCount(1)
  await form.getByRole('checkbox', { name: 'shop7' }).check()
  await filter.press('Enter')
  await expect(form.getByText('1 of 9 chosen')).toBeVisible()
  await filter.fill('none')
  await expect(form.getByText('No database matches “none”.')).toBeVisible()
  await form.getByRole('button', { name: 'Clear filter' }).first().click()
  await expect(form.getByRole('checkbox')).toHaveCount(9)
  await form.getByLabel('All databases').check()
  await form.getByLabel('Expires').selectOption('30 days')
  await page.keyboard.press('Control+Enter')

  const made = page.getByRole('dialog', { name: 'Token created' })
  await expect(made.getByText('It will not be shown again.')).toBeVisible()
  const token = (await made.locator('code').first().textContent()) ?? ''
  await expect(made.locator('code').last()).toContainText(`Authorization: Bearer ${token}`)
  const url = `${gatehouse.url}/_db/_system/_api/endpoint`
  const sendRequest = () => fetch(url, { headers: { authorization: `Bearer ${token}` } })
  expect((await sendRequest()).status).toBe(200)
  const change = await fetch(url, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}` },
    body: '{}',
  })
  expect(change.status).toBe(403)

  // No key, click or navigation closes the dialog before the token is copied.
  const copy = made.getByRole('button', { name: 'Copy token', exact: true })
  await expect(copy).toBeFocused()
  await page.keyboard.press('Escape')
  await expect(
    made.getByRole('alert').filter({ hasText: 'You haven’t copied the token yet' }),
  ).toBeVisible()
  await page.mouse.click(8, 400)
  await made.getByRole('button', { name: 'Close', exact: true }).click()
  await page.goBack()
  await expect(copy).toBeFocused()
  await expect(made.getByText(token, { exact: true })).toBeVisible()
  await expect(page).toHaveURL(/\/access\/tokens\/new$/)
  await expectAccessible(page)
  await copy.click()
  await expect(made.getByText('You haven’t copied the token yet')).toBeHidden()
  expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(token)
  await page.keyboard.press('Escape')
  await expect(made).toBeHidden()
  await expect(page).toHaveURL(/\/access\/tokens$/)
  const row = page.getByRole('row').filter({ hasText: 'nightly backup' })
  await expect(row).toContainText(`${token.slice(0, 8)}…`)
  await expect(row).toContainText('Viewer')
  await expect(page.getByText(token)).toBeHidden()

  await row.getByRole('button', { name: 'Revoke nightly backup' }).click()
  const question = page.getByRole('dialog', { name: 'Revoke token nightly backup?' })
  // The response arrives after the person has left the page, which must not move them.
  const held = await holdRequests(page, /\/_api\/token\//)
  await question.getByRole('button', { name: 'Revoke token' }).click()
  await page.keyboard.press('Escape')
  await page.getByRole('link', { name: 'Providers' }).click()
  const revoked = page.waitForResponse(/\/_api\/token\//)
  held.release()
  await revoked
  await expect(page.getByRole('region', { name: 'Last change' })).toContainText(
    'Token nightly backup revoked',
  )
  await expect(page).toHaveURL(/\/access\/providers$/)
  await page.getByRole('link', { name: 'Tokens' }).click()
  await expect(row).toBeHidden()
  expect((await sendRequest()).status).toBe(401)
})

freshTest(
  'A new person waits for a role, becomes a viewer and an editor, loses access and regains it',
  async ({ page, gatehouse, browser }) => {
    // Two people sign in.
    test.slow()
    const provider = await withProvider(gatehouse)
    const context = await browser.newContext()
    const browserErrors = await watchBrowserErrors(context)
    browserErrors.allow(/^http 401 /)
    const ada = await context.newPage()
    await ada.clock.install()
    await ada.goto('/_console/endpoints')
    await ada.getByRole('button', { name: 'Sign in with Example ID' }).click()
    await expect(ada.getByRole('heading', { name: 'Waiting for a role' })).toBeVisible()
    await expect(ada.getByText('You are signed in as oidc:')).toBeVisible()

    // The overview leads to the person who waits.
    await gatehouse.signIn(page, '/_console/overview')
    const waiting = page.getByRole('table', { name: 'People waiting for access' })
    const navigation = page.getByRole('link', { name: 'Access 1 waiting' })
    await expect(navigation).toBeVisible()
    await page.getByRole('link', { name: 'Assign a role' }).click()
    await expect(page).toHaveURL(/\/access\/people\/[^/]+\?give=/)
    const question = page.getByRole('dialog', { name: /^Access of oidc:/ })
    await expect(question.getByRole('radio', { name: 'Viewer' })).toBeFocused()
    await expect(question).toContainText('has the viewer role.')
    await question.getByRole('button', { name: 'Give access' }).click()
    await expect(navigation).toBeHidden()
    // The change of role ended the person's sessions.
    await expect(page.getByRole('group', { name: 'Sessions' })).toContainText('No open sessions.')
    await page.getByRole('link', { name: 'All people' }).click()
    await expect(waiting).toBeHidden()
    const person = page.getByRole('row').filter({ hasText: 'oidc:' })
    await expect(person).toContainText('Viewer')

    // The waiting page polls every 15 s and updates itself.
    await ada.clock.fastForward(15_000)
    await expect(ada.getByRole('heading', { name: 'Sign in again' })).toBeVisible()
    await ada.getByRole('link', { name: 'Sign in again' }).click()
    await ada.getByRole('button', { name: 'Sign in with Example ID' }).click()
    const own = `tcp://127.0.0.1:${gatehouse.port}`
    await expect(rowOf(ada, own)).toContainText('Listening')
    await expect(
      ada.getByText('You are a viewer. Only operators and admins can change endpoints.'),
    ).toBeVisible()
    expect(browserErrors.list()).toEqual([])

    for (const name of ['blog', 'shop']) {
      await gatehouse.post('/_db/_system/_api/database', { name })
      await gatehouse.post(`/_db/${name}/articles`, { id: 'one', title: 'One' })
    }
    const change = person.getByRole('button', { name: /^Change access of oidc:/ })
    await change.click()
    await question.getByText('Editor', { exact: true }).click()
    await expect(question).toContainText('change documents, indexes and schemas')
    await question.getByLabel('Only these').check()
    await question.getByRole('button', { name: 'Change access' }).click()
    await expect(question.getByText('Choose at least one database')).toBeVisible()
    await question.getByRole('checkbox', { name: 'blog' }).check()
    await expectAccessible(page)
    await question.getByRole('button', { name: 'Change access' }).click()
    await expect(person).toContainText('blog')

    // An editor of one database edits documents there, and changes no endpoints.
    browserErrors.allow(/^http 401 /)
    await ada.getByRole('link', { name: 'Sign in again' }).click()
    await ada.getByRole('button', { name: 'Sign in with Example ID' }).click()
    await expect(
      ada.getByText('You are an editor. Only operators and admins can change endpoints.'),
    ).toBeVisible()
    await expect(ada.getByRole('button', { name: 'Add endpoint' })).toHaveCount(0)
    await ada.getByRole('link', { name: 'Data', exact: true }).click()
    await expect(ada.getByRole('link', { name: 'shop', exact: true })).toHaveCount(0)
    await ada.getByRole('link', { name: 'blog', exact: true }).first().click()
    await ada.getByRole('link', { name: 'articles', exact: true }).first().click()
    await ada.getByRole('link', { name: 'one', exact: true }).click()
    const shown = ada.getByRole('dialog', { name: 'Document one', exact: true })
    await shown.getByRole('button', { name: 'Edit document' }).click()
    await ada.getByRole('textbox', { name: 'Document as JSON' }).fill('{ "title": "Two" }')
    await ada.keyboard.press('Control+Enter')
    await expect(shown).toContainText('"title": "Two"')
    await ada.keyboard.press('Escape')
    await expect(shown).toBeHidden()
    expect(browserErrors.list()).toEqual([])

    // The limit still names a database that was dropped.
    await gatehouse.delete('/_db/_system/_api/database/blog')
    await change.click()
    await question.getByRole('checkbox', { name: 'blog does not exist' }).uncheck()
    await expect(question.getByRole('checkbox', { name: 'blog does not exist' })).toBeVisible()
    await question.getByRole('checkbox', { name: 'shop' }).check()
    await question.getByRole('button', { name: 'Change access' }).click()
    await expect(person).toContainText('shop')

    await person.getByRole('link', { name: /^oidc:/ }).click()
    await page.getByRole('button', { name: 'Remove access…' }).click()
    const removal = page.getByRole('dialog', { name: /^Remove access of / })
    await expect(removal).toContainText('sessions and tokens end immediately on all nodes.')
    await removal.getByRole('button', { name: 'Remove access' }).click()
    await page.getByRole('link', { name: 'All people' }).click()
    const removed = page.getByRole('table', { name: 'People whose access was removed' })
    await expect(removed).toContainText('oidc:')
    browserErrors.allow(/^http (401|403) /)
    await ada.getByRole('link', { name: 'Sign in again' }).click()
    await ada.getByRole('button', { name: 'Sign in with Example ID' }).click()
    await expect(ada.getByRole('alert')).toContainText('Your access to this server was removed.')
    await expect(ada.getByRole('button', { name: 'Sign in' })).toBeHidden()

    await removed.getByRole('button', { name: /^Give access to oidc:/ }).click()
    await question.getByText('No role yet', { exact: true }).click()
    await question.getByRole('button', { name: 'Give access' }).click()
    await expect(waiting).toContainText('oidc:')
    await ada.goto('/_console/')
    await ada.getByRole('button', { name: 'Sign in with Example ID' }).click()
    await expect(ada.getByRole('heading', { name: 'Waiting for a role' })).toBeVisible()
    await context.close()
    provider.close()
  },
)

freshTest(
  'Groups assign a role at sign-in, which an admin can replace',
  async ({ page, gatehouse, browser }) => {
    test.slow()
    const provider = await withProvider(
      gatehouse,
      { GATEHOUSE_OIDC_ROLE_CLAIM: 'groups', GATEHOUSE_OIDC_ROLES: 'team:editor' },
      { groups: { names: ['team'], inIdToken: true } },
    )
    const ada = await (await browser.newContext()).newPage()
    await ada.goto('/_console/endpoints')
    await ada.getByRole('button', { name: 'Sign in with Example ID' }).click()
    await ada.getByRole('link', { name: 'Endpoints' }).click()
    await expect(ada.getByText('You are an editor.')).toBeVisible()

    await gatehouse.signIn(page, '/_console/access/people')
    const person = page.getByRole('row').filter({ hasText: 'oidc:' })
    await expect(person).toContainText('Editor, from groups')
    await expectAccessible(page)
    await person.getByRole('button', { name: /^Change access of / }).click()
    const question = page.getByRole('dialog', { name: /^Access of oidc:/ })
    await question.getByText('Viewer', { exact: true }).click()
    await expect(question).toContainText('groups no longer change the role.')
    await question.getByRole('button', { name: 'Change access' }).click()
    await expect(person).toContainText('Viewer')
    await expect(person).not.toContainText('from groups')

    await ada.getByRole('link', { name: 'Sign in again' }).click()
    await ada.getByRole('button', { name: 'Sign in with Example ID' }).click()
    await expect(ada.getByText('You are a viewer.')).toBeVisible()
    await ada.context().close()
    provider.close()
  },
)

freshTest(
  'A provider is added, tested, and used by an invited colleague and by a person who waits',
  async ({ page, gatehouse, browser }) => {
    test.slow()
    const client = { client_id: 'gatehouse', client_secret: 'only-for-this-journey-0123456789' }
    const redirect_uris = [`${gatehouse.url}/_oauth2/oidc/auth`]
    const provider = await startTestProvider([{ ...client, redirect_uris }])
    for (const name of ['blog', 'shop']) {
      await gatehouse.post('/_db/_system/_api/database', { name })
    }
    await gatehouse.signIn(page, '/_console/access/providers')
    await page.getByRole('button', { name: 'Add provider' }).click()
    const form = page.getByRole('dialog', { name: 'Add a provider' })
    await expect(form.getByText(`${gatehouse.url}/_oauth2/oidc/auth`)).toBeVisible()
    await form.getByLabel('Issuer').fill(provider.issuer)
    await form.getByLabel('Client id').fill(client.client_id)
    await form.getByLabel('Client secret').fill('wrong')
    await form.getByLabel('Label').fill('Example ID')
    await form.getByRole('button', { name: 'Add provider' }).click()
    await expect(form).toBeHidden()

    // A wrong secret is found by a test, before anybody tries to sign in.
    const runTest = async () => {
      const opened = page.waitForEvent('popup')
      await page.getByRole('button', { name: /^Test (sign-in with Example ID|again)$/ }).click()
      return opened
    }
    const steps = page.getByRole('dialog', { name: 'Test of Example ID' })
    const failed = await runTest()
    await expect(failed.getByRole('heading', { name: 'The test failed' })).toBeVisible()
    await failed.close()
    await expect(steps.getByRole('status')).toContainText('The test failed.')
    await expect(steps).toContainText('rejected the credentials of this server')
    await expectAccessible(page)
    await steps.getByRole('button', { name: 'Done' }).click()
    await page.getByRole('button', { name: 'Edit Example ID' }).click()
    const edit = page.getByRole('dialog', { name: 'Edit Example ID' })
    await edit.getByLabel('Client secret').fill(client.client_secret)
    await edit.getByRole('button', { name: 'Save provider' }).click()
    await expect(edit).toBeHidden()
    const passed = await runTest()
    await expect(passed.getByText('You would be signed in as oidc:ada.')).toBeVisible()
    await expect(steps.getByRole('status')).toContainText('The test passed.')
    await expect(steps).toContainText(
      `GET ${provider.issuer}/.well-known/openid-configuration: 200`,
    )
    await steps.getByRole('button', { name: 'Done' }).click()

    // The person who signed in for the test is not known: a test makes no session.
    await page.getByRole('link', { name: 'People' }).click()
    await expect(page.getByRole('row').filter({ hasText: 'oidc:' })).toHaveCount(0)
    await page.getByRole('button', { name: 'Invite person' }).click()
    const invite = page.getByRole('dialog', { name: 'Invite a person' })
    const note = invite.getByRole('textbox', { name: 'For', exact: true })
    await expect(note).toBeFocused()
    await note.fill('Ada from support')
    await invite.getByText('Editor', { exact: true }).click()
    await invite.getByLabel('Only these').check()
    await invite.getByRole('checkbox', { name: 'blog' }).check()
    await invite.getByRole('button', { name: 'Create invitation' }).click()
    const created = page.getByRole('dialog', { name: 'Invitation created' })
    const url = (await created.locator('code').first().textContent()) ?? ''
    await created.getByRole('button', { name: 'Close without copying' }).click()
    const invitations = page.getByRole('table', { name: 'Invitations' })
    await expect(invitations).toContainText(/Ada from support.*blog/)

    const context = await browser.newContext()
    const browserErrors = await watchBrowserErrors(context)
    const ada = await context.newPage()
    await ada.goto(url)
    await expect(
      ada.getByText('local:operator invites you to this server, as editor'),
    ).toBeVisible()
    await expectAccessible(ada)
    await ada.getByRole('button', { name: 'Sign in with Example ID' }).click()
    await ada.getByRole('link', { name: 'Endpoints' }).click()
    await expect(ada.getByText('You are an editor.')).toBeVisible()
    expect(browserErrors.list()).toEqual([])
    await expect(invitations).toBeHidden()
    browserErrors.allow(/^http 410 /)
    await ada.goto(url)
    await expect(ada.getByText('This invitation was already used.')).toBeVisible()

    // Their page shows their session. An admin makes them wait, and gives them another database.
    const row = page.getByRole('row').filter({ hasText: 'oidc:ada' })
    await row.getByRole('link', { name: 'oidc:ada' }).click()
    await expect(page.getByRole('table', { name: 'Sessions' })).toContainText('Chrome')
    await page.getByRole('link', { name: 'All people' }).click()
    await row.getByRole('button', { name: 'Change access of oidc:ada…' }).click()
    const access = page.getByRole('dialog', { name: 'Access of oidc:ada' })
    await access.getByText('No role yet', { exact: true }).click()
    await access.getByRole('button', { name: 'Change access' }).click()
    await page.getByRole('button', { name: 'Give access to oidc:ada…' }).click()
    await access.getByRole('checkbox', { name: 'blog' }).uncheck()
    await access.getByRole('checkbox', { name: 'shop' }).check()
    await access.getByRole('button', { name: 'Give access' }).click()
    await expect(row).toContainText('shop')
    await context.close()
    provider.close()
  },
)
