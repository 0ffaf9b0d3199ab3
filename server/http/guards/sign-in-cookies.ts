import type { Context } from 'hono'
import { getCookie, setCookie } from 'hono/cookie'
import { hashSecret } from '../../secret.ts'
import type { AppEnv } from '../env.ts'

/** Cookie that ties a sign-in to the browser that started it (docs/sign-in.md, "The flow"). */
export const CSRF_COOKIE = 'oauth2_csrf_token'

/** Maximum number of sign-ins at one provider in other tabs of a browser. */
export const OTHER_TABS = 4

/** The cookies of one sign-in, as the callback receives them. */
export interface SignInCookies {
  readonly cookie: string | undefined
  readonly hostCookie: string | undefined
  /** Deletes the cookies of this sign-in and keeps those of other tabs. */
  readonly clear: () => void
}

/** Path and lifetime of the sign-in cookies of a provider. */
interface CookieScope {
  readonly provider: string
  /** The path of the callback. */
  readonly path: string
  /** Maximum duration of a sign-in, s. */
  readonly seconds: number
}

/**
 * Returns the name of a second cookie with the same value, set when the browser's connection is
 * encrypted. The prefix `__Host-` keeps other hosts of the domain from setting it (RFC 6265bis
 * §4.1.3). The browser sends it to every path, so its name includes the provider.
 */
const hostCookieOf = (provider: string) => `${CSRF_COOKIE}_${provider}`

/** Returns the name of the cookie of a sign-in in another tab. */
const tabCookieOf = (provider: string, token: string) =>
  `${hostCookieOf(provider)}_${hashSecret(token).slice(0, 16)}`

const FLAGS = { httpOnly: true, sameSite: 'Lax' } as const

/**
 * Sets the cookies of a new sign-in. The token of a sign-in that another tab started moves to a
 * separate cookie, so that each tab can finish. Keeps at most {@link OTHER_TABS} of them and
 * returns the tokens that were dropped.
 */
export function setSignInCookies(
  c: Context<AppEnv>,
  scope: CookieScope,
  token: string,
  secure: boolean,
): string[] {
  const { provider, path, seconds: maxAge } = scope
  const before = secure ? getCookie(c, hostCookieOf(provider), 'host') : getCookie(c, CSRF_COOKIE)
  setCookie(c, CSRF_COOKIE, token, { ...FLAGS, maxAge, secure, path })
  if (secure) setCookie(c, hostCookieOf(provider), token, { ...FLAGS, maxAge, prefix: 'host' })
  const prefix = `${secure ? '__Host-' : ''}${hostCookieOf(provider)}_`
  // Browsers send the oldest cookie first (RFC 6265 §5.4).
  const others = Object.entries(getCookie(c)).filter(([name]) => name.startsWith(prefix))
  const keep = before === undefined || before === '' ? OTHER_TABS : OTHER_TABS - 1
  const dropped = others.slice(0, Math.max(0, others.length - keep))
  for (const [, old] of dropped) setTabCookie(c, scope, old, secure, '')
  if (before !== undefined && before !== '') {
    setTabCookie(c, scope, before, secure, before)
  }
  return dropped.map(([, old]) => old)
}

function setTabCookie(
  c: Context<AppEnv>,
  { provider, path, seconds }: CookieScope,
  token: string,
  secure: boolean,
  value: string,
): void {
  const life = { ...FLAGS, maxAge: value === '' ? 0 : seconds }
  const name = tabCookieOf(provider, token)
  if (secure) setCookie(c, name, value, { ...life, prefix: 'host' })
  else setCookie(c, name, value, { ...life, path })
}

/** Reads the cookies of the sign-in that a callback identifies by its token. */
export function readSignInCookies(
  c: Context<AppEnv>,
  scope: CookieScope,
  token: string | null,
): SignInCookies {
  const { provider, path } = scope
  const cookie = getCookie(c, CSRF_COOKIE)
  const hostCookie = getCookie(c, hostCookieOf(provider), 'host')
  const name = token === null ? undefined : tabCookieOf(provider, token)
  const plain = name && getCookie(c, name)
  const host = name && getCookie(c, name, 'host')
  if (token !== null && cookie !== token && (plain === token || host === token)) {
    return {
      cookie: token,
      hostCookie: host,
      clear: () => setTabCookie(c, scope, token, host !== undefined, ''),
    }
  }
  return {
    cookie,
    hostCookie,
    clear: () => {
      setCookie(c, CSRF_COOKIE, '', { maxAge: 0, path })
      if (hostCookie !== undefined) {
        setCookie(c, hostCookieOf(provider), '', { prefix: 'host', maxAge: 0 })
      }
    },
  }
}
