import type { Browser, BrowserContext, Cookie } from '@playwright/test'
import type { Role } from '../../server/contract/access/principal.ts'
import {
  type PlainProvider,
  startPlainProvider,
} from '../../server/oauth2/providers/plain-provider.testing.ts'
import type { Gatehouse } from './server/open-gatehouse.ts'

/**
 * Starts a provider that signs in any person that a test names. Returns it with the settings for
 * Gatehouse.
 */
export async function openPeopleProvider() {
  const provider = await startPlainProvider()
  const { origin } = provider
  const env = {
    GATEHOUSE_OAUTH2_AUTH_ENDPOINT: `${origin}/authorize`,
    GATEHOUSE_OAUTH2_TOKEN_ENDPOINT: `${origin}/token`,
    GATEHOUSE_OAUTH2_ACTIVE_USER_ENDPOINT: `${origin}/user`,
    GATEHOUSE_OAUTH2_CLIENT_ID: 'gatehouse',
    GATEHOUSE_OAUTH2_CLIENT_SECRET: 'only-for-this-journey-0123456789',
    GATEHOUSE_OAUTH2_LABEL: 'Example ID',
    GATEHOUSE_OAUTH2_CALLBACK: 'exact',
  }
  return { provider, env }
}

/** Signs a person in as a browser would, after giving them the role. Returns the session cookie. */
export async function signInAs(
  gatehouse: Gatehouse,
  provider: PlainProvider,
  id: string,
  role: Role,
): Promise<Cookie> {
  provider.user = { body: { id, name: nameOf(id) } }
  const cookie = await goThrough(gatehouse)
  if (role === 'pending') return cookie
  const people = '/_db/_system/_api/user'
  const list = (await gatehouse.get(people)).body as { id: string; username: string }[]
  const person = list.find(({ username }) => username === `oauth2:${id}`)
  const { status } = await gatehouse.patch(`${people}/${person?.id}`, { role })
  if (status !== 200) throw new Error(`${id} is not made ${role}: ${status}`)
  // A change of role ends the session, so sign in again.
  return goThrough(gatehouse)
}

const nameOf = (id: string) => `${id.charAt(0).toUpperCase()}${id.slice(1)}`

/** Runs the whole sign-in flow except for the pages of the provider. */
async function goThrough({ url }: Gatehouse): Promise<Cookie> {
  const callback = `${url}/_oauth2/oauth2/auth`
  const began = await fetch(callback, { method: 'POST', redirect: 'manual' })
  const csrf = cookieOf(began)
  const response = await fetch(`${callback}?code=c&state=${csrf.value}`, {
    headers: { cookie: `${csrf.name}=${csrf.value}`, 'user-agent': 'Mozilla/5.0 Firefox/140.0' },
    redirect: 'manual',
  })
  if (response.status !== 303) throw new Error(`the sign-in failed: ${response.status}`)
  return {
    ...cookieOf(response),
    domain: new URL(url).hostname,
    path: '/',
    expires: -1,
    httpOnly: true,
    secure: false,
    sameSite: 'Lax',
  }
}

function cookieOf(answer: Response): { name: string; value: string } {
  const [pair = ''] = (answer.headers.get('set-cookie') ?? '').split(';')
  const [name = '', value = ''] = pair.split('=', 2)
  return { name, value }
}

/** Returns a browser context with this session cookie. */
export async function browserOf(
  browser: Browser,
  { url }: Gatehouse,
  cookie: Cookie,
): Promise<BrowserContext> {
  return browser.newContext({
    baseURL: url,
    storageState: { cookies: [cookie], origins: [] },
  })
}
