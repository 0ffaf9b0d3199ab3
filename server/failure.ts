/** What a failure looks like on the wire: HTTP status, `errorNum` under `/_api`, `id` elsewhere. */
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
 * Every way in which a request can fail, and the one place that gives each its status, its
 * `errorNum` (Error object of seed 000) and its `id` (error body of seed 002).
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
  'precondition-failed': kind(412, 412, 'precondition_failed'),
  'too-large': kind(413, 413, 'too_large'),
  'unsupported-media-type': kind(415, 415, 'unsupported_media_type'),
  misdirected: kind(421, 421, 'misdirected_request'),
  invalid: kind(422, 422, 'invalid'),
  'too-many-requests': kind(429, 429, 'too_many_requests'),
  internal: kind(500, 4, 'internal'),
  busy: kind(503, 503, 'busy'),
  unavailable: kind(503, 503, 'unavailable'),
  'insufficient-storage': kind(507, 507, 'insufficient_storage'),
} as const satisfies Record<string, FailureKind>

/** The closed union of failure codes. */
export type FailureCode = keyof typeof failureKinds

/** What may accompany a {@link Failure}. */
export interface FailureOptions {
  /** What went wrong underneath: for the log alone, it never leaves the process. */
  readonly cause?: unknown
  /** Response headers that the status asks for, such as `Allow` with 405 (RFC 9110 §15.5.6). */
  readonly headers?: Readonly<Record<string, string>>
  /** What the error body of seed 002 carries besides `id` and `message`. */
  readonly details?: Readonly<Record<string, unknown>>
}

/**
 * The one error that this code base throws on purpose. `message` is a sentence for people and is
 * sent to them; `cause` is for the log. `http/render-failure.ts` turns it into an answer.
 */
export class Failure extends Error {
  override readonly name = 'Failure'
  readonly code: FailureCode
  readonly headers: Readonly<Record<string, string>>
  readonly details: Readonly<Record<string, unknown>>

  constructor(code: FailureCode, message: string, options: FailureOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.code = code
    this.headers = options.headers ?? {}
    this.details = options.details ?? {}
  }

  /** Status, `errorNum` and `id` of this failure. */
  get kind(): FailureKind {
    return failureKinds[this.code]
  }
}

/** A failure of the store itself: it is unavailable, or its disk is full. */
export type StoreFailure = Failure & { readonly code: 'unavailable' | 'insufficient-storage' }

/** Returns whether an error is a {@link StoreFailure}. */
export const isStoreFailure = (error: unknown): error is StoreFailure =>
  error instanceof Failure &&
  (error.code === 'unavailable' || error.code === 'insufficient-storage')

/**
 * The system's own code of an error (`EADDRINUSE`, `ENOENT`, `SQLITE_BUSY`…), or `undefined`.
 */
export function systemCode(error: unknown): string | undefined {
  if (typeof error !== 'object' || error === null) return undefined
  const code = (error as { code?: unknown }).code
  return typeof code === 'string' ? code : undefined
}
