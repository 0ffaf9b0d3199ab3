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
  "frame-ancestors 'none'",
  "base-uri 'none'",
  "object-src 'none'",
]

/** The policy of a page of the console, whose styles carry the nonce made for that page alone. */
export const pagePolicy = (nonce: string): string =>
  [...page(`'self' 'nonce-${nonce}'`), "form-action 'self'"].join('; ')

/**
 * The policy of the sign-in page: without `form-action`, which Chromium applies to every redirect
 * after the POST, to hosts behind the provider too.
 */
export const signInPagePolicy = page("'self'").join('; ')

/** The headers that every answer carries. A page puts {@link pagePolicy} in place of the policy. */
export const securityHeaders = createMiddleware<AppEnv>(async (c, next) => {
  c.header('Content-Security-Policy', NOTHING)
  c.header('X-Content-Type-Options', 'nosniff')
  c.header('Cross-Origin-Opener-Policy', 'same-origin')
  c.header('Cross-Origin-Resource-Policy', 'same-origin')
  // With no-referrer a browser would send `Origin: null` with forms of our own.
  c.header('Referrer-Policy', 'same-origin')
  if (c.env.via.address.scheme === 'ssl') {
    // On encrypted connections alone (RFC 6797 §7.2): a year.
    c.header('Strict-Transport-Security', 'max-age=31536000')
  }
  await next()
})
