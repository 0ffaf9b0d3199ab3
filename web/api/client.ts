import { hc } from 'hono/client'
import type { Api } from '../../server/app.ts'
import { BACKGROUND_HEADER } from '../../server/contract/access/session.ts'
import type { ErrorBody, ErrorObject, InvalidPart } from '../../server/contract/acknowledgement.ts'
import type { Violation } from '../../server/contract/schema.ts'
import { fetchWithTimeout, ResponseTimeout } from './fetch-with-timeout.ts'
import { recordRequest } from './session/session-activity.ts'

/** Path of the administration API, served by every endpoint that reaches `_system`. */
export const API_BASE = '/_db/_system'

/**
 * Client of the HTTP API, typed by the server's routes. The `X-Gatehouse` header protects against
 * cross-site requests: a page of another origin cannot send it without a CORS preflight.
 */
export const api = hc<Api>(API_BASE, { headers: requestHeaders, fetch: fetchWithTimeout })

/** Returns a client of the documents, schemas and jobs of a database, in version 1. */
export const databaseApi = (database: string, fetch: typeof globalThis.fetch = fetchWithTimeout) =>
  hc<Api>(`/_db/${encodeURIComponent(database)}`, {
    headers: () => ({ ...requestHeaders(), Accept: 'application/json; version=1' }),
    fetch,
    init: { cache: 'no-store' },
  })

/** Returns the headers of every request of the console. */
export function requestHeaders(): Record<string, string> {
  return { 'X-Gatehouse': '1', ...(recordRequest() ? {} : { [BACKGROUND_HEADER]: '1' }) }
}

type FailureDetails = Partial<Omit<ErrorBody, 'message'>>

/**
 * The server rejected the request. `message` is the server's error message, written for users.
 * After a 401, `message` is the console's own text instead.
 */
export class ApiFailure extends Error {
  override readonly name = 'ApiFailure'
  readonly status: number
  /** The number of an error under `/_api`; otherwise 0. */
  readonly errorNum: number
  /** The code of any other error, such as `not_found`. */
  readonly id: string | undefined
  /** The rejected part: a JSON Pointer into the body, or the name of a parameter or header. */
  readonly field: string | undefined
  /** The rejected parts of a body or query that does not match its schema. */
  readonly errors: readonly InvalidPart[]
  /** The code of the operating system, such as `EADDRINUSE`. */
  readonly systemCode: string | undefined
  /** Violations of the collection's schema. */
  readonly violations: readonly Violation[]
  /** The number of documents that an import stored before it failed. */
  readonly stored: number | undefined
  /** The fields of an index that would serve a query that reads too much. */
  readonly fields: readonly string[]

  constructor(status: number, errorNum: number, message: string, details: FailureDetails = {}) {
    super(message)
    this.status = status
    this.errorNum = errorNum
    this.id = details.id
    this.field = details.field
    this.errors = details.errors ?? []
    this.systemCode = details.systemCode
    this.violations = details.violations ?? []
    this.stored = details.stored
    this.fields = details.fields ?? []
  }
}

/**
 * No response arrived: the server is unreachable, it hangs, or the connection broke. A change may
 * have been applied. `cause` is a {@link ResponseTimeout} after a timeout.
 */
export class NoResponse extends Error {
  override readonly name = 'NoResponse'

  constructor(cause: unknown) {
    const timeout = cause instanceof ResponseTimeout ? cause.message : undefined
    super(timeout ?? 'Gatehouse did not respond.', { cause })
  }
}

/** Returns whether the server rejected a request with 401. */
export const isSignedOut = (error: unknown): boolean =>
  error instanceof ApiFailure && error.status === 401

/** Returns a `refetchInterval` of `pause` ms that stops polling after a 401. */
export const pollWhileSignedIn =
  (pause: number) =>
  (query: { readonly state: { readonly error: Error | null } }): number | false =>
    isSignedOut(query.state.error) ? false : pause

/** Replaces the message of the server, which also advises API clients to send a token. */
const SIGNED_OUT = 'You are signed out. Sign in again.'
const NO_DATABASE = 'The database does not exist. It may have been dropped.'

interface AnyResponse {
  readonly ok: boolean
  readonly status: number
  json(): Promise<unknown>
}

/**
 * Resolves with a successful response of {@link api} or {@link databaseApi}. Throws
 * {@link ApiFailure} if the server rejected the request and {@link NoResponse} if no response
 * arrived.
 */
export async function requireOk<R extends AnyResponse>(pending: Promise<R>): Promise<R> {
  const response = await awaitResponse(pending)
  if (response.ok) return response
  // A body that is not JSON comes from something else, such as a reverse proxy.
  const body = (await response.json().catch(() => ({}))) as Partial<ErrorObject & ErrorBody>
  const { status } = response
  throw new ApiFailure(status, body.errorNum ?? 0, messageOf(status, body), body)
}

/** Returns the message of a rejected request, in words of the console where it knows more. */
function messageOf(status: number, body: Partial<ErrorObject & ErrorBody>): string {
  if (status === 401) return SIGNED_OUT
  if (body.id === 'database_not_found') return NO_DATABASE
  const { errorMessage, message } = body
  return errorMessage ?? message ?? `The server responded with ${status} and no error message.`
}

/** Resolves with the typed body of a response. Throws as {@link requireOk}. */
export async function readJson<R extends AnyResponse>(
  pending: Promise<R>,
): Promise<Awaited<ReturnType<R['json']>>> {
  const response = await requireOk(pending)
  return (await awaitResponse(response.json())) as Awaited<ReturnType<R['json']>>
}

/** Resolves even if the record to delete does not exist (404): another person deleted it first. */
export const ignoreMissing = (deleted: Promise<unknown>): Promise<void> =>
  deleted.then(
    () => {},
    (error: unknown) => {
      if (!(error instanceof ApiFailure && error.status === 404)) throw error
    },
  )

/** Waits for a response or its body. Throws {@link NoResponse} if it does not arrive. */
export const awaitResponse = <T>(pending: Promise<T>): Promise<T> =>
  pending.catch((cause: unknown) => {
    throw new NoResponse(cause)
  })
