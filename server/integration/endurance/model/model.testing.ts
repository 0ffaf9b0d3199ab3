import type { Role } from '../../../contract/access/principal.ts'
import type { TestResponse } from '../../../test-support/start.testing.ts'
import type { Random } from '../settings.testing.ts'

export type Body = Readonly<Record<string, unknown>>

/** A database of the model. Its documents are in one collection. */
export interface Database {
  readonly documents: Readonly<Record<string, Body>>
  /** A unique index has failed if it was created while two documents had the same values. */
  readonly indexes: Readonly<Record<string, 'usable' | 'failed'>>
  readonly schema: Body | null
}

export const EMPTY: Database = { documents: {}, indexes: {}, schema: null }

/** A token of the model. */
export interface Token {
  /** The name of a person, or the operator's. */
  readonly owner: string
  readonly role: Role
  /** When it expires, ms since 1970; null if it never does. */
  readonly expires: number | null
}

/** The state that the server has, as far as its responses tell. */
export interface Model {
  readonly databases: Readonly<Record<string, Database>>
  /** The databases of each endpoint. */
  readonly endpoints: Readonly<Record<string, readonly string[]>>
  /** The role of each person. */
  readonly people: Readonly<Record<string, Role>>
  readonly tokens: Readonly<Record<string, Token>>
}

export type Headers = Readonly<Record<string, string>>

/**
 * Sends a request. A body that is not a string is sent as JSON.
 *
 * @param headers sent with a token of the operator, unless they have other credentials.
 */
export type Call = (
  method: string,
  path: string,
  body?: unknown,
  headers?: Headers,
) => Promise<TestResponse>

/** What the model predicts of an operation. */
interface Prediction {
  /** The status of the response, or several that are possible. Default: any below 300. */
  readonly status?: number | readonly number[]
  /** The models that the complete operation can result in. */
  readonly after: readonly Model[]
  /** The models that an acknowledged operation can result in if the server ends during `finish`. */
  readonly between?: readonly Model[]
  /** Further models that an operation without a response can result in. */
  readonly partial?: readonly Model[]
  /** Audit rows that the operation may add besides those of the resulting model. */
  readonly possibleRows?: readonly string[]
  /** Completes the operation after its response, and checks its result. */
  readonly finish?: (response: TestResponse) => Promise<void>
}

/** A request with a response that the model predicts. */
export interface Operation extends Prediction {
  readonly method: string
  readonly path: string
  readonly body?: unknown
  readonly headers?: Headers
}

/**
 * A command that runs beside the server. Its response is what it prints, with the status 200, or
 * 409 if it fails.
 */
export interface CommandOperation extends Prediction {
  /** The words of `gatehouse`. */
  readonly command: readonly string[]
}

/** The names of databases, endpoints and people. */
export const NAMES = ['one', 'two', 'three'] as const

/** Maximum time of work in the background on a busy machine. A request that fails ends the wait. */
export const ENDED = { timeout: 60_000, interval: 10 }

/** Returns the model with a changed or new database. */
export const withDatabase = (model: Model, name: string, next: Partial<Database>): Model => ({
  ...model,
  databases: { ...model.databases, [name]: { ...EMPTY, ...model.databases[name], ...next } },
})

/** Returns the model without a database. */
export const withoutDatabase = (model: Model, name: string): Model => ({
  ...model,
  databases: without(model.databases, name),
})

export function without<T>(record: Readonly<Record<string, T>>, name: string): Record<string, T> {
  const { [name]: _removed, ...rest } = record
  return rest
}

/** Returns an operation under the condition that the resource has its current tag, or another one. */
export function withCondition(
  operation: Operation,
  model: Model,
  { tag, other }: { readonly tag: string; readonly other: string },
  random: Random,
): Operation {
  const isMet = random(2) === 0
  const headers = { ...operation.headers, 'If-Match': isMet ? tag : other }
  if (isMet) return { ...operation, headers }
  const { finish: _, ...request } = operation
  return { ...request, headers, status: 412, after: [model] }
}
