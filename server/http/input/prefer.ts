import type { Context } from 'hono'
import type { AppEnv } from '../env.ts'
import { parseParameter, requestHeader, splitUnquoted } from './headers.ts'

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

/**
 * Returns whether a request has `Prefer: return=representation` (RFC 7240 §4.2), with which the
 * response to an import lists the created documents.
 */
export const prefersRepresentation = (c: Context<AppEnv>): boolean =>
  prefers(c, 'return', 'representation')

/** Headers of a response that has what `return=representation` adds. */
export const REPRESENTATION = { 'Preference-Applied': 'return=representation' } as const

/** Returns whether a request has `Prefer: count=exact`, which counts all documents that match. */
export const prefersCount = (c: Context<AppEnv>): boolean => prefers(c, 'count', 'exact')

/** Headers of a response whose body was omitted on request. */
export const MINIMAL = { 'Preference-Applied': 'return=minimal' } as const

/**
 * Returns how long `Prefer: wait` (RFC 7240 §4.3) lets the server wait, s, at most `max`; undefined if
 * the request does not have it.
 */
export function preferredWait(c: Context<AppEnv>, max: number): number | undefined {
  const header = requestHeader(c, 'prefer')
  const value = header && preferenceOf(header, 'wait')
  return value && /^[0-9]{1,9}$/.test(value) ? Math.min(Number(value), max) : undefined
}

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
    const [key, value = ''] = parseParameter(pair)
    if (key === name) return value
  }
  return undefined
}
