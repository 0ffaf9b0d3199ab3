import { startPlainProvider } from '../server/oauth2/providers/plain-provider.testing.ts'
import { watchBrowserErrors } from './support/page/browser-errors.ts'
import { expect, freshTest as test } from './support/server/gatehouse.ts'

/** Markup that would run if any page inserted it as HTML; short enough for every field. */
const PAYLOAD = `<img src=x onerror="alert(1)"><script>alert(2)</script>'`

/** Markup that console pages never contain. A policy violation would also fail the journey. */
const MARKUP = 'img[src="x"], [onerror], script:not([src])'

test('Markup in stored data is shown as text and never runs', async ({
  page,
  browser,
  gatehouse,
  browserErrors,
}) => {
  // The last page opened below has markup in its path.
  browserErrors.allow(/^path .*\/_console\/%3Cimg/)
  const provider = await startPlainProvider()
  const origin = provider.origin
  await gatehouse.restart({
    GATEHOUSE_OAUTH2_AUTH_ENDPOINT: `${origin}/authorize`,
    GATEHOUSE_OAUTH2_TOKEN_ENDPOINT: `${origin}/token`,
    GATEHOUSE_OAUTH2_ACTIVE_USER_ENDPOINT: `${origin}/user`,
    GATEHOUSE_OAUTH2_CLIENT_ID: 'gatehouse',
    GATEHOUSE_OAUTH2_CLIENT_SECRET: 'only-for-this-journey',
    GATEHOUSE_OAUTH2_LABEL: PAYLOAD,
    GATEHOUSE_OAUTH2_CALLBACK: 'exact',
  })
  try {
    // A person whose name, id and browser are markup signs in; admins see them.
    provider.user = { body: { id: PAYLOAD, name: PAYLOAD } }
    const began = await fetch(`${gatehouse.url}/_oauth2/oauth2/auth`, {
      method: 'POST',
      redirect: 'manual',
    })
    const cookie = began.headers.get('set-cookie')?.split(';')[0] ?? ''
    const signedIn = await fetch(
      `${gatehouse.url}/_oauth2/oauth2/auth?code=c&state=${cookie.split('=')[1]}`,
      { headers: { cookie, 'user-agent': PAYLOAD }, redirect: 'manual' },
    )
    expect(signedIn.status).toBe(303)
    const session = signedIn.headers.get('set-cookie')?.split(';')[0] ?? ''

    const token = await gatehouse.post('/_db/_system/_api/token', { name: PAYLOAD, role: 'viewer' })
    expect(token.status).toBe(201)
    await gatehouse.post('/_db/_system/_api/database', { name: 'blog' })
    const document = { id: PAYLOAD, title: PAYLOAD, [PAYLOAD]: [PAYLOAD] }
    expect((await gatehouse.post('/_db/blog/articles', document)).status).toBe(201)
    // A rejected change is audited with the requested name.
    await gatehouse.delete(`/_db/_system/_api/database/${encodeURIComponent(PAYLOAD)}`)

    await gatehouse.signIn(page, '/_console/access/people')
    for (const [path, shows] of [
      ['/_console/access/people', true],
      ['/_console/access/tokens', true],
      ['/_console/access/providers', true],
      ['/_console/me', false],
      ['/_console/activity', true],
      ['/_console/data/blog/articles', true],
      ['/_console/endpoints', false],
      [`/_console/${encodeURIComponent(PAYLOAD)}`, false],
    ] as const) {
      await page.goto(path)
      await expect(page.getByRole('main')).toBeVisible()
      if (shows) await expect(page.getByText(PAYLOAD).first()).toBeVisible()
      expect([path, await page.locator(MARKUP).count()]).toEqual([path, 0])
    }

    // The sign-in page, and the pages of that person.
    const other = await browser.newContext({ baseURL: gatehouse.url })
    const otherErrors = await watchBrowserErrors(other)
    // A person without a role gets 403 for some requests.
    otherErrors.allow(/^http 403 /)
    const [name = '', value = ''] = session.split('=')
    await other.addCookies([{ name, value, url: gatehouse.url }])
    const theirs = await other.newPage()
    for (const path of ['/_console/', '/_console/me', '/_console/sign-in']) {
      await theirs.goto(path)
      await expect(theirs.getByRole('main')).toBeVisible()
      expect([path, await theirs.locator(MARKUP).count()]).toEqual([path, 0])
    }
    expect(otherErrors.list()).toEqual([])
    await other.close()
  } finally {
    provider.close()
  }
})
