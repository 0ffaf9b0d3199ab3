import { type APIRequestContext, type Cookie, expect, type Page, request } from '@playwright/test'
import { invariant } from '../../server/contract/invariant.ts'

/** The headers of a change that a page of the console requests. */
const OUR_PAGE = { 'X-Gatehouse': '1', 'Sec-Fetch-Site': 'same-origin' }

/** Sends the requests of a sign-in through the local provider, without rendering its pages. */
async function sendKey(api: APIRequestContext, key: string, returnTo: string): Promise<void> {
  const requested = await api.post('/_oauth2/local/auth', { form: { returnTo } })
  const action = /<form method="post" action="([^"]+)">/.exec(await requested.text())?.[1]
  invariant(action, 'the page has the form of the local provider')
  const answered = await api.post(action, { form: { key } })
  expect(answered.ok(), 'the key is taken').toBe(true)
}

/** Opens a page of the console, and waits until it is rendered and handles keys. */
export async function openConsole(page: Page, path: string): Promise<void> {
  await page.goto(path)
  await page.locator('h1').first().waitFor({ state: 'attached' })
}

/**
 * Signs in through the local provider and opens `path`, a page of the console. Sends the browser's
 * requests without rendering their pages, which `session.spec.ts` tests.
 */
export async function signInWithKey(page: Page, key: string, path: string): Promise<void> {
  await sendKey(page.context().request, key, path)
  await openConsole(page, path)
}

/** Signs in with the operator key outside the browser; returns the cookies of the session. */
export async function openSession(baseURL: string, key: string): Promise<Cookie[]> {
  const api = await request.newContext({ baseURL })
  try {
    await sendKey(api, key, '/_console/')
    return (await api.storageState()).cookies
  } finally {
    await api.dispose()
  }
}

/** Creates an admin's token in a session that it ends. */
export async function createToken(baseURL: string, key: string): Promise<string> {
  const api = await request.newContext({ baseURL, extraHTTPHeaders: OUR_PAGE })
  try {
    await sendKey(api, key, '/_console/')
    const data = { name: 'journey', role: 'admin' }
    const made = await api.post('/_db/_system/_api/token', { data })
    expect(made.status(), await made.text()).toBe(201)
    await api.delete('/_db/_system/_api/session')
    return ((await made.json()) as { token: string }).token
  } finally {
    await api.dispose()
  }
}

/** Submits the operator key on the sign-in page, or on that of the local provider. */
export async function giveKey(page: Page, key: string): Promise<void> {
  await page.getByLabel('Operator key').fill(key)
  await page.getByLabel('Operator key').press('Enter')
}
