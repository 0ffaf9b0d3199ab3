import type { Context } from 'hono'
import { HTTPException } from 'hono/http-exception'
import type { ContentfulStatusCode } from 'hono/utils/http-status'
import type { ErrorBody, ErrorObject } from '../contract/acknowledgement.ts'
import { Failure } from '../failure.ts'
import type { AppEnv } from './env.ts'
import { failurePage } from './failure-page.ts'
import { splitRequestPath } from './request-path.ts'

/** The content type of every JSON answer under `/_api` (seed 000, "Endpoints"). */
export const API_JSON = 'application/json; charset=utf-8'

/** When it is worth trying again while the store is away, seconds (RFC 9110 §10.2.3). */
const RETRY_AFTER = '1'

/** Makes a {@link Failure} of whatever was thrown; what was not thrown on purpose is `internal`. */
export function toFailure(error: unknown): Failure {
  if (error instanceof Failure) return error
  if (error instanceof HTTPException && error.status < 500) {
    return new Failure('bad-parameter', 'The request cannot be understood.', { cause: error })
  }
  return new Failure('internal', 'Something went wrong on our side. The log has the details.', {
    cause: error,
  })
}

/**
 * The one place where a failure becomes an answer: the Error object of seed 000 under `/_api`, a
 * readable page for a browser that navigates, the error body of seed 002 elsewhere.
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
    const body: ErrorObject = {
      error: true,
      code: status,
      errorNum: failure.kind.errorNum,
      errorMessage: failure.message,
    }
    return c.json(body, status, { ...headers, 'Content-Type': API_JSON })
  }
  if (isNavigation(c)) return c.html(failurePage(status, failure.message), status, headers)
  const body: ErrorBody = { id: failure.kind.id, message: failure.message, ...failure.details }
  return c.json(body, status, headers)
}

/**
 * The value of `WWW-Authenticate` of a 401 (RFC 9110 §11.6.1). `Basic` lets clients such as wget send the token that
 * is the user part of the URL. Browsers get `Bearer` alone: they would ask for a password and
 * remember it.
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

/** A browser that is to show the answer as a page (Fetch Metadata; older ones say it by Accept). */
function isNavigation(c: Context<AppEnv>): boolean {
  const mode = c.req.header('Sec-Fetch-Mode')
  if (mode !== undefined) return mode === 'navigate'
  return c.req.header('Accept')?.startsWith('text/html') ?? false
}
