import { type OutgoingHttpHeaders, ServerResponse } from 'node:http'
import { createMiddleware } from 'hono/factory'
import type { AppEnv, Via } from './env.ts'

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

const EVERYWHERE = {
  'content-security-policy': NOTHING,
  'x-content-type-options': 'nosniff',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  // With no-referrer a browser would send `Origin: null` with forms of our own.
  'referrer-policy': 'same-origin',
  // Answers depend on who asks, so a shared cache must not keep them, and others must revalidate.
  'cache-control': 'private, no-cache',
}
/** On encrypted connections alone (RFC 6797 §7.2): a year. */
const ENCRYPTED = { ...EVERYWHERE, 'strict-transport-security': 'max-age=31536000' }

const PAIRS = {
  plain: Object.entries(EVERYWHERE).flat(),
  encrypted: Object.entries(ENCRYPTED).flat(),
}

/** {@link securityHeaders} of an answer that is no page, for `writeHead`: names and values in turn. */
export const securityHeaderPairs = ({ address }: Via): readonly string[] =>
  address.scheme === 'ssl' ? PAIRS.encrypted : PAIRS.plain

const writePlain = writeHeadWith(EVERYWHERE)
const writeEncrypted = writeHeadWith(ENCRYPTED)

/** The headers that every answer carries. A page puts {@link pagePolicy} in place of the policy. */
export const securityHeaders = createMiddleware<AppEnv>((c, next) => {
  const encrypted = c.env.via.address.scheme === 'ssl'
  const { outgoing } = c.env
  if (outgoing instanceof ServerResponse) {
    outgoing.writeHead = encrypted ? writeEncrypted : writePlain
    return next()
  }
  // Without a connection (`app.request`) there is only the answer to put them into.
  return next().then(() => {
    for (const [name, value] of Object.entries(encrypted ? ENCRYPTED : EVERYWHERE)) {
      if (!c.res.headers.has(name)) c.res.headers.set(name, value)
    }
  })
})

/**
 * Node's `writeHead` with these headers added, by names in lower case, where the answer has none of
 * its own. So they are written together with the others: set one by one before (`setHeader`), or
 * filled into `Headers`, they cost every answer more than reading a document does.
 */
function writeHeadWith(added: Readonly<Record<string, string>>): ServerResponse['writeHead'] {
  const write = ServerResponse.prototype.writeHead
  return function (this: ServerResponse, status: number, ...rest: unknown[]) {
    const own = rest.pop() as OutgoingHttpHeaders | undefined
    const headers: OutgoingHttpHeaders = { ...added, ...own }
    for (const name of this.getHeaderNames()) {
      if (own?.[name] === undefined) delete headers[name]
    }
    return write.call(this, status, headers)
  }
}
