import { serialize } from 'hono/utils/cookie'
import type { Asked } from './env.ts'

/** The cookie that carries the secret of a session. */
export interface SessionCookie {
  /** The secret that a request carries. */
  read(c: Asked, secure: boolean): string | undefined
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
      return header === undefined ? undefined : valueIn(header, nameOf(secure))
    },
    give: (secret, secure) =>
      serialize(nameOf(secure), secret, { ...attributes(secure), maxAge: maxAge / 1000 }),
    take: (secure) => serialize(nameOf(secure), '', { ...attributes(secure), maxAge: 0 }),
  }
}

/**
 * The value of a cookie of ours in a `Cookie` header (RFC 6265 §4.2.1). Each request asks, and a
 * value of ours is neither quoted nor encoded: that is most of what hono's `parse` takes its time for.
 */
function valueIn(header: string, name: string): string | undefined {
  for (let at = header.indexOf(name); at !== -1; at = header.indexOf(name, at + 1)) {
    const begun = at === 0 || header[at - 1] === ' ' || header[at - 1] === ';'
    const from = at + name.length + 1
    if (!begun || header[from - 1] !== '=') continue
    const end = header.indexOf(';', from)
    return header.slice(from, end === -1 ? undefined : end).trim()
  }
  return undefined
}
