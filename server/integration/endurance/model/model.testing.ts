import type { Role } from '../../../contract/access/role.ts'
import type { TestResponse } from '../../../test-support/start.testing.ts'
import type { Random } from '../settings.testing.ts'

export type Body = Readonly<Record<string, unknown>>

/** A database of the model. Its documents are in one collection. */
export interface Database {
  readonly documents: Readonly<Record<string, Body>>
  readonly indexes: readonly string[]
  readonly schema: Body | null
}

/** A token of the model. */
export interface Token {
  /** The name of a person, or the operator's. */
  readonly owner: string
  readonly role: Role
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

/** A request with a response that the model predicts. */
export interface Operation {
  readonly method: string
  readonly path: string
  readonly body?: unknown
  readonly headers?: Headers
  /** The status of the response. Default: any below 300. */
  readonly status?: number
  /** The models that the complete operation can result in. */
  readonly after: readonly Model[]
  /** The models that an acknowledged operation can result in if the server ends during `finish`. */
  readonly between?: readonly Model[]
  /** Further models that an operation without a response can result in. */
  readonly partial?: readonly Model[]
  /** Completes the operation after its response, and checks its result. */
  readonly finish?: (response: TestResponse) => Promise<void>
}

/** The names of databases, endpoints and people. */
export const NAMES = ['one', 'two', 'three'] as const

export function without<T>(record: Readonly<Record<string, T>>, name: string): Record<string, T> {
  const { [name]: _removed, ...rest } = record
  return rest
}

/** Returns an operation under the condition that the resource has its current tag, or another one. */
export const withCondition = (
  operation: Operation,
  model: Model,
  { tag, other }: { readonly tag: string; readonly other: string },
  random: Random,
): Operation =>
  random(2) === 0
    ? { ...operation, headers: { ...operation.headers, 'If-Match': tag } }
    : {
        ...operation,
        headers: { ...operation.headers, 'If-Match': other },
        status: 412,
        after: [model],
      }
