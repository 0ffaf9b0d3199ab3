import { type OutgoingHttpHeaders, ServerResponse } from 'node:http'
import { createMiddleware } from 'hono/factory'
import type { AppEnv } from '../env.ts'
import { requestHeader } from '../input/headers.ts'
import { splitRequestPath } from '../input/url.ts'

/** The policy of responses that are not pages: nothing may load. */
const NO_SOURCES = "default-src 'none'; frame-ancestors 'none'"

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

/** Returns the policy of a console page. The nonce for its styles is unique to the response. */
export const pagePolicy = (nonce: string): string =>
  [...page(`'self' 'nonce-${nonce}'`), "form-action 'self'"].join('; ')

/**
 * The policy of a script. Browsers apply it only to workers, which may connect to this server
 * alone.
 */
export const SCRIPT_POLICY = `${NO_SOURCES}; connect-src 'self'`

/**
 * The policy of the sign-in page. It omits `form-action`, because Chromium applies that to every
 * redirect after the POST, including redirects to hosts behind the provider.
 */
export const signInPagePolicy = page("'self'").join('; ')

const COMMON_HEADERS = {
  'content-security-policy': NO_SOURCES,
  'x-content-type-options': 'nosniff',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  // With `no-referrer` a browser sends `Origin: null` with forms of this server.
  'referrer-policy': 'same-origin',
  // Responses depend on the caller: shared caches must not store them, browsers must revalidate.
  'cache-control': 'private, no-cache',
}
/** Only on encrypted connections (RFC 6797 §7.2); one year. */
const ENCRYPTED_HEADERS = { ...COMMON_HEADERS, 'strict-transport-security': 'max-age=31536000' }

const writePlain = writeHeadWith(COMMON_HEADERS)
const writeEncrypted = writeHeadWith(ENCRYPTED_HEADERS)

/** The functions of {@link writeWithCors} by the headers of a policy, which belong to one endpoint. */
const corsWriters = new WeakMap<Readonly<Record<string, string>>, ServerResponse['writeHead']>()

/** Returns a `writeHead` that adds the common headers and those of a policy. */
function writeWithCors(cors: Readonly<Record<string, string>>, encrypted: boolean) {
  const known = corsWriters.get(cors)
  if (known !== undefined) return known
  const write = writeHeadWith({ ...(encrypted ? ENCRYPTED_HEADERS : COMMON_HEADERS), ...cors })
  corsWriters.set(cors, write)
  return write
}

/** Adds the headers of every response. A page replaces the policy with {@link pagePolicy}. */
export const securityHeaders = createMiddleware<AppEnv>((c, next) => {
  const { policy, address } = c.env.listener
  const encrypted = address.scheme === 'ssl'
  const { outgoing } = c.env
  const cors = policy?.corsHeaders(splitRequestPath(c.req.raw).path, requestHeader(c, 'origin'))
  if (outgoing instanceof ServerResponse) {
    outgoing.writeHead =
      cors === undefined
        ? encrypted
          ? writeEncrypted
          : writePlain
        : writeWithCors(cors, encrypted)
    return next()
  }
  // Without a connection (`app.request`), set the headers on the response object.
  return next().then(() => {
    const added = { ...(encrypted ? ENCRYPTED_HEADERS : COMMON_HEADERS), ...cors }
    for (const [name, value] of Object.entries(added)) {
      if (name === 'vary') c.res.headers.append(name, value)
      else if (!c.res.headers.has(name)) c.res.headers.set(name, value)
    }
  })
})

/**
 * Returns a `writeHead` of Node that adds these headers, with names in lower case, unless it is
 * called with others of the same names. Writing them together keeps them cheap: through `setHeader`
 * or `Headers` they cost more than reading a document.
 */
function writeHeadWith(added: Readonly<Record<string, string>>): ServerResponse['writeHead'] {
  const write = ServerResponse.prototype.writeHead
  return function (this: ServerResponse, status: number, ...rest: unknown[]) {
    const headers = rest.pop() as OutgoingHttpHeaders | undefined
    const all: OutgoingHttpHeaders = { ...added, ...headers }
    if (added.vary !== undefined && headers?.vary !== undefined) {
      all.vary = `${headers.vary}, ${added.vary}`
    }
    return write.call(this, status, all)
  }
}
