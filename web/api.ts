import { hc } from 'hono/client'
import type { Api } from '../server/app.ts'
import type { ErrorObject } from '../server/contract/acknowledgement.ts'
import { BACKGROUND_HEADER } from '../server/contract/session-use.ts'
import { noteRequest } from './use-of-session.ts'

/** Where the administration answers, on every endpoint that reaches `_system`. */
export const API_BASE = '/_db/_system'

/**
 * The server's interface, typed by the server itself. The header tells the server that a page of
 * its own is asking: a foreign page cannot send it without being asked first (CORS preflight).
 */
export const api = hc<Api>(API_BASE, { headers: requestHeaders })

/** What every request of the console carries. */
export function requestHeaders(): Record<string, string> {
  return { 'X-Gatehouse': '1', ...(noteRequest() ? {} : { [BACKGROUND_HEADER]: '1' }) }
}

/** The server refused. `message` is its own sentence for people. */
export class ApiFailure extends Error {
  override readonly name = 'ApiFailure'
  readonly status: number
  readonly errorNum: number

  constructor(status: number, errorNum: number, message: string) {
    super(message)
    this.status = status
    this.errorNum = errorNum
  }
}

/** No answer came: the server is away, or the connection broke. What was asked may have been done. */
export class NoAnswer extends Error {
  override readonly name = 'NoAnswer'

  constructor(cause: unknown) {
    super('Gatehouse does not answer.', { cause })
  }
}

/** Whether the server refused because nobody is signed in (any more). */
export const isSignedOut = (error: unknown): boolean =>
  error instanceof ApiFailure && error.status === 401

/**
 * A pause between readings (ms), for `refetchInterval`: none once the session has ended, until
 * somebody signs in again and everything is read anew.
 */
export const whileSignedIn =
  (pause: number) =>
  (query: { readonly state: { readonly error: Error | null } }): number | false =>
    isSignedOut(query.state.error) ? false : pause

interface AnyResponse {
  readonly ok: boolean
  readonly status: number
  json(): Promise<unknown>
}

/**
 * The body of a response of {@link api}, typed. Throws {@link ApiFailure} where the server refused
 * and {@link NoAnswer} where there was none.
 */
export async function answer<R extends AnyResponse>(
  pending: Promise<R>,
): Promise<Awaited<ReturnType<R['json']>>> {
  const response = await pending.catch((cause: unknown) => {
    throw new NoAnswer(cause)
  })
  const body = await response.json().catch((cause: unknown) => {
    // Something that is not Gatehouse, such as a proxy in front of it, wrote this page.
    if (!response.ok) throw new ApiFailure(response.status, 0, plainRefusal(response.status))
    throw new NoAnswer(cause)
  })
  if (response.ok) return body as Awaited<ReturnType<R['json']>>
  const { errorNum = 0, errorMessage = plainRefusal(response.status) } =
    body as Partial<ErrorObject>
  throw new ApiFailure(response.status, errorNum, errorMessage)
}

const plainRefusal = (status: number) => `The server answered ${status} and gave no reason.`
