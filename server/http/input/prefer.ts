import type { Context } from 'hono'
import type { AppEnv } from '../env.ts'
import { requestHeader } from './request-header.ts'

/** Returns whether a request has `Prefer: respond-async` (RFC 7240 §4.1). `HEAD` ignores it. */
export const prefersAsync = (c: Context<AppEnv>): boolean =>
  prefers(c, 'respond-async', '') && c.req.raw.method !== 'HEAD'

/**
 * Returns the headers of a response whose job continues: its location and, if the client asked for
 * it, `Preference-Applied`.
 */
export const jobHeaders = (c: Context<AppEnv>, job: string): Record<string, string> => {
  const prefix = /^\/_db\/[^/]+(?=\/)/.exec(new URL(c.req.url).pathname)?.[0] ?? ''
  return {
    Location: `${prefix}/_job/${job}`,
    ...(prefersAsync(c) && { 'Preference-Applied': 'respond-async' }),
  }
}

/**
 * Returns whether a request has `Prefer: return=minimal` (RFC 7240 §4.2), which omits the response
 * body.
 */
export const prefersMinimal = (c: Context<AppEnv>): boolean => prefers(c, 'return', 'minimal')

/** Returns whether a request has `Prefer: count=exact`, which counts all documents that match. */
export const prefersCount = (c: Context<AppEnv>): boolean => prefers(c, 'count', 'exact')

/** Headers of a response whose body was omitted on request. */
export const MINIMAL = { 'Preference-Applied': 'return=minimal' } as const

function prefers(c: Context<AppEnv>, name: string, value: string): boolean {
  const header = requestHeader(c, 'prefer')
  return header !== undefined && preferenceOf(header, name)?.toLowerCase() === value
}

/**
 * Returns the value of a preference in a `Prefer` header (RFC 7240 §2); an empty string if it has
 * none, and undefined if the header does not contain the preference. Only its first occurrence
 * counts, and parameters are ignored.
 *
 * @param name in lower case.
 */
export function preferenceOf(header: string, name: string): string | undefined {
  for (const preference of splitUnquoted(header, ',')) {
    const [pair = ''] = splitUnquoted(preference, ';')
    const equals = pair.indexOf('=')
    const key = equals === -1 ? pair : pair.slice(0, equals)
    if (key.trim().toLowerCase() !== name) continue
    return equals === -1 ? '' : unquoted(pair.slice(equals + 1).trim())
  }
  return undefined
}

/** Splits a header at each separator outside quoted strings (RFC 9110 §5.6.4), in linear time. */
function splitUnquoted(text: string, separator: string): string[] {
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

const unquoted = (word: string): string =>
  word.length > 1 && word.startsWith('"') && word.endsWith('"')
    ? word.slice(1, -1).replaceAll(/\\(.)/g, '$1')
    : word
