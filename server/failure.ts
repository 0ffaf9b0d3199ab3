import type { ErrorBody, ErrorObject } from './contract/acknowledgement.ts'

/** How a failure is sent: HTTP status, `errorNum` under `/_api`, `id` elsewhere. */
export interface FailureKind {
  readonly status: number
  readonly errorNum: number
  readonly id: string
}

const kind = (status: number, errorNum: number, id: string): FailureKind => ({
  status,
  errorNum,
  id,
})

/**
 * Every kind of request failure with its status, `errorNum` and `id` (docs/http-api.md, "Errors").
 */
export const failureKinds = {
  'bad-parameter': kind(400, 10, 'bad_request'),
  'bad-json': kind(400, 600, 'bad_request'),
  'bad-database-name': kind(400, 1229, 'bad_request'),
  'system-only': kind(400, 1230, 'bad_request'),
  unauthenticated: kind(401, 401, 'auth_failed'),
  forbidden: kind(403, 11, 'forbidden'),
  'not-found': kind(404, 404, 'not_found'),
  'database-not-found': kind(404, 1228, 'database_not_found'),
  'endpoint-not-found': kind(404, 1231, 'not_found'),
  'method-not-allowed': kind(405, 405, 'method_not_allowed'),
  'not-acceptable': kind(406, 406, 'not_acceptable'),
  timeout: kind(408, 408, 'request_timeout'),
  conflict: kind(409, 1200, 'conflict'),
  'database-exists': kind(409, 1207, 'conflict'),
  gone: kind(410, 410, 'gone'),
  'precondition-failed': kind(412, 412, 'precondition_failed'),
  'too-large': kind(413, 413, 'too_large'),
  'unsupported-media-type': kind(415, 415, 'unsupported_media_type'),
  misdirected: kind(421, 421, 'misdirected_request'),
  invalid: kind(422, 422, 'invalid'),
  'query-too-expensive': kind(422, 422, 'query_too_expensive'),
  'too-many-requests': kind(429, 429, 'too_many_requests'),
  internal: kind(500, 4, 'internal'),
  busy: kind(503, 503, 'busy'),
  unavailable: kind(503, 503, 'unavailable'),
  'insufficient-storage': kind(507, 507, 'insufficient_storage'),
} as const satisfies Record<string, FailureKind>

export type FailureCode = keyof typeof failureKinds

/** The fields of the error body besides `id` and `message`. They are sent to clients. */
export type FailureDetails = Readonly<Omit<ErrorBody, 'id' | 'message'>>

export interface FailureOptions extends FailureDetails {
  /** The underlying error. It is logged and never sent to clients. */
  readonly cause?: unknown
  /** Response headers that the status requires, such as `Allow` with 405 (RFC 9110 §15.5.6). */
  readonly headers?: Readonly<Record<string, string>>
}

/**
 * The only error that this code base throws deliberately. `message` is sent to clients; `cause` is
 * only logged. `http/output/render-failure.ts` renders it as a response.
 */
export class Failure extends Error {
  override readonly name = 'Failure'
  readonly code: FailureCode
  readonly headers: Readonly<Record<string, string>>
  readonly details: FailureDetails

  constructor(code: FailureCode, message: string, options: FailureOptions = {}) {
    const { cause, headers = {}, ...details } = options
    super(message, cause === undefined ? undefined : { cause })
    this.code = code
    this.headers = headers
    this.details = details
  }

  /** The status, `errorNum` and `id` of this failure. */
  get kind(): FailureKind {
    return failureKinds[this.code]
  }

  /**
   * Returns a plain Failure with the same code, cause and headers, and with another message or further
   * details. It has no fields of subclasses.
   */
  with({ message = this.message, ...details }: FailureDetails & { message?: string }): Failure {
    const { cause, headers } = this
    return new Failure(this.code, message, { ...this.details, ...details, cause, headers })
  }
}

/** A document of a request conflicts with a stored one. */
export class DocumentConflict extends Failure {
  /** Id of the document that cannot be stored. */
  readonly id: string

  constructor(id: string, message: string, details: FailureDetails) {
    super('conflict', message, details)
    this.id = id
  }
}

/** Returns the failure of a request for a database that does not exist or is not served. */
export const databaseNotFound = () => new Failure('database-not-found', 'database not found')

/**
 * Returns the failure with the JSON Pointer of the failed value prepended to its fields. Failures
 * that the caller did not cause are returned unchanged.
 */
export function failureAt(pointer: string, failure: Failure): Failure {
  if (failure.kind.status >= 500) return failure
  const { field = '', errors } = failure.details
  return failure.with({
    field: pointer + field,
    ...(errors && {
      errors: errors.map((error) => ({ ...error, field: pointer + (error.field ?? '') })),
    }),
  })
}

/**
 * Throws if the client of a request has disconnected.
 *
 * @param signal aborted when the client disconnects; undefined for work without a client.
 * @throws Failure `busy`
 */
export function requireConnected(signal: AbortSignal | undefined): void {
  if (signal?.aborted) throw new Failure('busy', 'The client has disconnected.')
}

/** Returns the error body for a failure (docs/http-api.md, "Errors"). */
export const toErrorBody = ({ kind, message, details }: Failure): ErrorBody => ({
  id: kind.id,
  message,
  ...details,
})

/** Returns the Error object for a failure (docs/http-api.md, "Errors"). */
export function toErrorObject({ kind, message, details }: Failure): ErrorObject {
  return {
    error: true,
    code: kind.status,
    errorNum: kind.errorNum,
    errorMessage: message,
    ...(details.field !== undefined && { field: details.field }),
    ...(details.errors !== undefined && { errors: details.errors }),
    ...(details.systemCode !== undefined && { systemCode: details.systemCode }),
    ...(details.rule !== undefined && { rule: details.rule }),
  }
}

/** A failure of the store: it is unavailable, or its disk is full. */
export type StoreFailure = Failure & { readonly code: 'unavailable' | 'insufficient-storage' }

export const isStoreFailure = (error: unknown): error is StoreFailure =>
  error instanceof Failure &&
  (error.code === 'unavailable' || error.code === 'insufficient-storage')

/**
 * Returns the system error code of an error (`EADDRINUSE`, `ENOENT`, `SQLITE_BUSY`…), or
 * `undefined`.
 */
export function systemCode(error: unknown): string | undefined {
  if (typeof error !== 'object' || error === null) return undefined
  const code = (error as { code?: unknown }).code
  return typeof code === 'string' ? code : undefined
}

/** Whether a limit on open files, of this process or of the machine, caused an error. */
export function isFileLimit(error: unknown): boolean {
  const code = systemCode(error)
  return code === 'EMFILE' || code === 'ENFILE'
}
