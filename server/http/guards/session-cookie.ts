import { serialize } from 'hono/utils/cookie'
import type { RequestView } from '../env.ts'
import { requestHeader } from '../input/headers.ts'

/** The cookie that carries a session secret. */
export interface SessionCookie {
  /** Returns the session secret of a request; undefined if it has several different ones. */
  read(c: RequestView, secure: boolean): string | undefined
  /** Returns the `Set-Cookie` header that stores the secret in the browser. */
  set(secret: string, secure: boolean): string
  /** Returns the `Set-Cookie` header that deletes the cookie. */
  clear(secure: boolean): string
}

/**
 * Returns the session cookie of this installation. All ports of a host share their cookies, so the
 * name includes the installation's id. On an encrypted connection the name has the prefix
 * `__Host-`, which keeps other hosts from setting it (RFC 6265bis §4.1.3). `SameSite` is `Lax`:
 * with `Strict`, the browser would omit the cookie from the first request after the provider's
 * redirect.
 *
 * @param instance the id of this installation.
 * @param maxAge maximum lifetime of a session, ms.
 */
export function createSessionCookie(instance: string, maxAge: number): SessionCookie {
  const nameOf = (secure: boolean) => `${secure ? '__Host-' : ''}gatehouse_${instance}`
  const attributes = (secure: boolean) =>
    ({ path: '/', httpOnly: true, sameSite: 'Lax', secure }) as const
  return {
    read(c, secure) {
      const header = requestHeader(c, 'cookie')
      return header === undefined ? undefined : valueIn(header, nameOf(secure))
    },
    set: (secret, secure) =>
      serialize(nameOf(secure), secret, { ...attributes(secure), maxAge: maxAge / 1000 }),
    clear: (secure) => serialize(nameOf(secure), '', { ...attributes(secure), maxAge: 0 }),
  }
}

/**
 * Returns the value of a cookie in a `Cookie` header (RFC 6265 §4.2.1). The value is never quoted
 * or encoded, so this skips the decoding that takes most of the time in hono's `parse`; it runs on
 * every request.
 *
 * Returns undefined for different values: a page on another port of the host can set a cookie with a
 * longer path, which a browser sends first.
 */
function valueIn(header: string, name: string): string | undefined {
  let value: string | undefined
  for (let at = header.indexOf(name); at !== -1; at = header.indexOf(name, at + 1)) {
    const begun = at === 0 || header[at - 1] === ' ' || header[at - 1] === ';'
    const from = at + name.length + 1
    if (!begun || header[from - 1] !== '=') continue
    const end = header.indexOf(';', from)
    const found = header.slice(from, end === -1 ? undefined : end).trim()
    if (value !== undefined && found !== value) return undefined
    value = found
  }
  return value
}
