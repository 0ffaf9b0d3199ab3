import type { Context } from 'hono'
import { Failure } from '../../failure.ts'
import type { AppEnv } from '../env.ts'

/**
 * Returns the parameters of a request. Parsing its whole URL would take longer.
 *
 * @throws Failure `bad-parameter` for a parameter that is not percent-encoded UTF-8.
 */
export function searchParameters(c: Context<AppEnv>): URLSearchParams {
  const { url } = c.req
  const begin = url.indexOf('?')
  if (begin === -1) return new URLSearchParams()
  const end = url.indexOf('#', begin)
  const query = url.slice(begin + 1, end === -1 ? undefined : end)
  // `URLSearchParams` replaces what it cannot decode.
  if (query.includes('%')) requireEncoded(query)
  return new URLSearchParams(query)
}

/**
 * Rejects query parameters, which would have no effect.
 *
 * @param what the request, as the subject of the message.
 * @param except the name of a parameter that the request can have.
 * @throws Failure `bad-parameter`
 */
export function requireNoParameters(c: Context<AppEnv>, what: string, except?: string): void {
  if (!c.req.url.includes('?')) return
  const name = searchParameters(c)
    .keys()
    .find((each) => each !== except)
  if (name === undefined) return
  throw new Failure(
    'bad-parameter',
    `${what} has no parameter ${JSON.stringify(name.slice(0, 64))}.`,
    { field: name },
  )
}

function requireEncoded(query: string): void {
  for (const parameter of query.split('&')) {
    if (decoded(parameter) !== undefined) continue
    const [name = ''] = parameter.split('=', 1)
    const field = decoded(name.replaceAll('+', ' ')) ?? name
    throw new Failure(
      'bad-parameter',
      `The parameter ${JSON.stringify(field.slice(0, 64))} is not percent-encoded UTF-8.`,
      { field },
    )
  }
}

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined
  }
}
