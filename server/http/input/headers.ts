import { type Conditions, matches, readConditions } from '../../contract/conditions.ts'
import { Failure } from '../../failure.ts'
import type { RequestView } from '../env.ts'

/**
 * Returns a header of a request, for code that runs for every request: `c.req.header` searches and
 * checks all headers each time, which costs as much as routing the request.
 *
 * @param name not `authorization`: Node.js keeps only the first of several values.
 */
export function requestHeader(c: RequestView, name: Lowercase<string>): string | undefined {
  const { incoming } = c.env
  if (incoming === undefined) return c.req.header(name)
  const value = incoming.headers[name]
  return Array.isArray(value) ? value.join(', ') : value
}

/** Splits a header at each separator outside quoted strings (RFC 9110 §5.6.4), in linear time. */
export function splitUnquoted(text: string, separator: string): string[] {
  const parts: string[] = []
  let begin = 0
  let isQuoted = false
  for (let at = 0; at < text.length; at++) {
    const character = text[at]
    if (character === '"') {
      isQuoted = !isQuoted
    } else if (isQuoted) {
      if (character === '\\') at++
    } else if (character === separator) {
      parts.push(text.slice(begin, at))
      begin = at + 1
    }
  }
  parts.push(text.slice(begin))
  return parts
}

/**
 * Returns the name, in lower case, and the value of a parameter `name=value` of a header, whose
 * value may be a quoted string; undefined if it has no value.
 */
export function parseParameter(text: string): [name: string, value: string | undefined] {
  const equals = text.indexOf('=')
  const name = equals === -1 ? text : text.slice(0, equals)
  const value = equals === -1 ? undefined : unquoted(text.slice(equals + 1).trim())
  return [name.trim().toLowerCase(), value]
}

const unquoted = (word: string): string =>
  word.length > 1 && word.startsWith('"') && word.endsWith('"')
    ? word.slice(1, -1).replaceAll(/\\(.)/g, '$1')
    : word

/** Returns the conditions of a request on the current state. */
export const conditionsOf = (c: RequestView): Conditions =>
  readConditions(requestHeader(c, 'if-match'), requestHeader(c, 'if-none-match'))

/**
 * Returns whether the response to a read is 304, for a resource without an entity tag, which only
 * `*` matches (RFC 9110 §13.1). Call it once the resource is known to exist.
 *
 * @throws Failure `precondition-failed` for `If-Match` with a tag.
 */
export function isNotModified(c: RequestView): boolean {
  const conditions = conditionsOf(c)
  if (matches(conditions, undefined)) return conditions.noneMatch === '*'
  throw new Failure('precondition-failed', 'The resource has no entity tag.', { field: 'If-Match' })
}

/**
 * Rejects the conditions of a change whose target has no entity tag.
 *
 * @param what the resource, and what to do instead, without a final period.
 * @throws Failure `precondition-failed`
 */
export function requireNoConditions({ match, noneMatch }: Conditions, what: string): void {
  if ((match === undefined || match === '*') && noneMatch === undefined) return
  throw new Failure('precondition-failed', `Preconditions are not supported for ${what}.`, {
    field: noneMatch === undefined ? 'If-Match' : 'If-None-Match',
  })
}
