import type { Context } from 'hono'
import { HTTPException } from 'hono/http-exception'
import type { ContentfulStatusCode } from 'hono/utils/http-status'
import { Failure, isStoreFailure, systemCode, toErrorBody, toErrorObject } from '../../failure.ts'
import type { AppEnv } from '../env.ts'
import { splitRequestPath } from '../input/url.ts'
import { VARY_NAVIGATION } from './content-negotiation.ts'
import { FAILURE_PAGE_POLICY, failurePage } from './failure-page.ts'

/** Content type of every JSON response under `/_api` (docs/http-api.md, "Versions"). */
export const API_JSON = 'application/json; charset=utf-8'

/** Default `Retry-After` of a 503, s (RFC 9110 §10.2.3). */
const RETRY_AFTER = '1'

/** Converts any thrown value to a {@link Failure}. Unexpected errors become `internal`. */
export function toFailure(error: unknown): Failure {
  if (error instanceof Failure) return error
  if (error instanceof HTTPException && error.status < 500) {
    return new Failure('bad-parameter', 'The request is malformed.', { cause: error })
  }
  return new Failure('internal', 'An unexpected error occurred. The server log has the details.', {
    cause: error,
  })
}

/**
 * Renders a failure as a response (docs/http-api.md, "Errors"): an Error object under `/_api`, a
 * page for a browser that navigates, and an error body elsewhere.
 */
export function renderFailure(failure: Failure, c: Context<AppEnv>): Response | Promise<Response> {
  const { path } = splitRequestPath(c.req.raw)
  const status = failure.kind.status as ContentfulStatusCode
  const headers = {
    ...(status === 503 ? { 'Retry-After': RETRY_AFTER } : {}),
    ...failure.headers,
    'Cache-Control': 'no-store',
    ...(status === 401 ? { 'WWW-Authenticate': challenge(c) } : {}),
  }
  if (path === '/_api' || path.startsWith('/_api/')) {
    return c.json(toErrorObject(failure), status, { ...headers, 'Content-Type': API_JSON })
  }
  if (isNavigation(c)) {
    return c.html(failurePage(status, failure.message), status, {
      ...headers,
      ...VARY_NAVIGATION,
      'Content-Security-Policy': FAILURE_PAGE_POLICY,
    })
  }
  return c.json(toErrorBody(failure), status, { ...headers, ...VARY_NAVIGATION })
}

/**
 * Returns the `WWW-Authenticate` of a 401 (RFC 9110 §11.6.1). `Basic` makes clients such as wget
 * send a token from the user part of the URL. Browsers get only `Bearer`: for `Basic` they prompt
 * for a password and remember it.
 */
function challenge(c: Context<AppEnv>): string {
  const isBrowser =
    c.req.header('Sec-Fetch-Site') !== undefined ||
    c.req.header('Sec-Fetch-Mode') !== undefined ||
    c.req.header('Origin') !== undefined ||
    c.req.header('Cookie') !== undefined ||
    (c.req.header('User-Agent') ?? '').includes('Mozilla/')
  return isBrowser ? 'Bearer' : 'Bearer, Basic realm="Gatehouse"'
}

/**
 * Returns whether a browser navigates to the page, by Fetch Metadata or, in older browsers, by
 * `Accept`.
 */
function isNavigation(c: Context<AppEnv>): boolean {
  const mode = c.req.header('Sec-Fetch-Mode')
  if (mode !== undefined) return mode === 'navigate'
  return c.req.header('Accept')?.startsWith('text/html') ?? false
}

/**
 * Returns the error handler of the application, which renders the error and logs those of the
 * server.
 *
 * @param logError returns a function that logs errors under a message.
 */
export const createErrorHandler =
  (logError: (message: string) => (error: unknown) => void) =>
  (error: Error, c: Context<AppEnv>): Response | Promise<Response> => {
    const failure = toFailure(error)
    if (failure.kind.status >= 500 && !isKnown(failure) && !hasLeft(failure, c))
      logError(failure.message)(isStoreFailure(failure) ? failure : (failure.cause ?? failure))
    if (failure.code === 'database-not-found') c.env.listener.countRejected?.()
    return renderFailure(failure, c)
  }

/** Returns whether the log has the reason: an outage of the store is logged when it begins. */
const isKnown = ({ code, cause }: Failure) =>
  code === 'busy' || (code === 'unavailable' && cause === undefined)

/**
 * Returns whether the client disconnected before its body was read. The whole body may have arrived:
 * an import reads it more slowly.
 */
const hasLeft = ({ cause }: Failure, { env }: Context<AppEnv>) =>
  systemCode(cause) === 'ECONNRESET' &&
  (env.incoming?.complete === false || env.outgoing?.destroyed === true)
