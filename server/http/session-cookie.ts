import type { Context } from 'hono'
import { parse, serialize } from 'hono/utils/cookie'
import type { AppEnv } from './env.ts'

/** The cookie that carries the secret of a session. */
export interface SessionCookie {
  /** The secret that a request carries. */
  read(c: Context<AppEnv>, secure: boolean): string | undefined
  /** The header `Set-Cookie` that gives the secret to a browser. */
  give(secret: string, secure: boolean): string
  /** The header `Set-Cookie` that takes it away. */
  take(secure: boolean): string
}

/**
 * Makes a {@link SessionCookie}. The ports of one host share their cookies, so the name carries the
 * id of this installation; on an encrypted connection it has the prefix `__Host-` too, which no
 * other host can set (RFC 6265bis §4.1.3). `Lax`, for with `Strict` the cookie would be missing from
 * the first request after the provider has sent a person back.
 *
 * @param instance the id of this installation.
 * @param maxAge how long a session lasts at most, ms.
 */
export function createSessionCookie(instance: string, maxAge: number): SessionCookie {
  const nameOf = (secure: boolean) => `${secure ? '__Host-' : ''}gatehouse_${instance}`
  const attributes = (secure: boolean) =>
    ({ path: '/', httpOnly: true, sameSite: 'Lax', secure }) as const
  return {
    read(c, secure) {
      const header = c.req.header('Cookie')
      const name = nameOf(secure)
      return header === undefined ? undefined : parse(header, name)[name]
    },
    give: (secret, secure) =>
      serialize(nameOf(secure), secret, { ...attributes(secure), maxAge: maxAge / 1000 }),
    take: (secure) => serialize(nameOf(secure), '', { ...attributes(secure), maxAge: 0 }),
  }
}
