import { createMiddleware } from 'hono/factory'
import type { AppEnv } from './env.ts'

/** What an answer that is no page may do in a browser: nothing. */
const NOTHING = "default-src 'none'; frame-ancestors 'none'"

const page = (style: string): string[] => [
  "default-src 'none'",
  "script-src 'self'",
  `style-src ${style}`,
  "font-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "worker-src 'self'",
  "frame-ancestors 'none'",
  "base-uri 'none'",
  "object-src 'none'",
]

/** The policy of a page of the console, whose styles carry the nonce made for that page alone. */
export const pagePolicy = (nonce: string): string =>
  [...page(`'self' 'nonce-${nonce}'`), "form-action 'self'"].join('; ')

/** The policy of a script: only a worker goes by its own, and asks nobody else than this server. */
export const SCRIPT_POLICY = `${NOTHING}; connect-src 'self'`

/**
 * The policy of the sign-in page: without `form-action`, which Chromium applies to every redirect
 * after the POST, to hosts behind the provider too.
 */
export const signInPagePolicy = page("'self'").join('; ')

const EVERYWHERE = [
  ['Content-Security-Policy', NOTHING],
  ['X-Content-Type-Options', 'nosniff'],
  ['Cross-Origin-Opener-Policy', 'same-origin'],
  ['Cross-Origin-Resource-Policy', 'same-origin'],
  // With no-referrer a browser would send `Origin: null` with forms of our own.
  ['Referrer-Policy', 'same-origin'],
] as const
/** On encrypted connections alone (RFC 6797 §7.2): a year. */
const ENCRYPTED = [...EVERYWHERE, ['Strict-Transport-Security', 'max-age=31536000']] as const

/** The headers that every answer carries. A page puts {@link pagePolicy} in place of the policy. */
export const securityHeaders = createMiddleware<AppEnv>((c, next) => {
  const headers = c.env.via.address.scheme === 'ssl' ? ENCRYPTED : EVERYWHERE
  const { outgoing } = c.env
  if (outgoing !== undefined) {
    // Given to Node, which lets the answer's own take precedence: `Headers` would be filled for every
    // answer only to be read out again.
    for (const [name, value] of headers) outgoing.setHeader(name, value)
    return next()
  }
  // Without a connection (`app.request`) there is only the answer to put them into.
  return next().then(() => {
    for (const [name, value] of headers) {
      if (!c.res.headers.has(name)) c.res.headers.set(name, value)
    }
  })
})
