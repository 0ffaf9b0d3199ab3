import type { Context } from 'hono'
import type { AppEnv } from '../env.ts'

/** Returns whether a request has `Prefer: respond-async` (RFC 7240 §4.1). `HEAD` ignores it. */
export const prefersAsync = (c: Context<AppEnv>): boolean => {
  const prefer = c.req.header('Prefer')
  return prefer !== undefined && RESPOND_ASYNC.test(prefer) && c.req.raw.method !== 'HEAD'
}

const RESPOND_ASYNC = /(?:^|,)\s*respond-async\s*(?:[;,]|$)/i

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
export const prefersMinimal = (c: Context<AppEnv>): boolean =>
  /(?:^|,)\s*return\s*=\s*"?minimal"?\s*(?:[;,]|$)/i.test(c.req.header('Prefer') ?? '')

/** Returns whether a request has `Prefer: count=exact`, which counts all documents that match. */
export const prefersCount = (c: Context<AppEnv>): boolean => {
  const prefer = c.req.header('Prefer')
  return prefer !== undefined && /(?:^|,)\s*count\s*=\s*"?exact"?\s*(?:[;,]|$)/i.test(prefer)
}

/** Headers of a response whose body was omitted on request. */
export const MINIMAL = { 'Preference-Applied': 'return=minimal' } as const
