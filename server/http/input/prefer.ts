import type { Context } from 'hono'
import type { AppEnv } from './env.ts'

/** Whether a request asks to be answered before it is carried out (RFC 7240 §4.1). */
export const prefersAsync = (c: Context<AppEnv>): boolean => {
  const prefer = c.req.header('Prefer')
  return prefer !== undefined && RESPOND_ASYNC.test(prefer) && c.req.raw.method !== 'HEAD'
}

const RESPOND_ASYNC = /(?:^|,)\s*respond-async\s*(?:[;,]|$)/i

/** The headers of an answer that a job goes on after: where it is, and whether it was asked for. */
export const jobHeaders = (c: Context<AppEnv>, job: string): Record<string, string> => {
  const prefix = /^\/_db\/[^/]+(?=\/)/.exec(new URL(c.req.url).pathname)?.[0] ?? ''
  return {
    Location: `${prefix}/_job/${job}`,
    ...(prefersAsync(c) && { 'Preference-Applied': 'respond-async' }),
  }
}

/** Whether a request asks for an answer without a body (RFC 7240 §4.2): of what was deleted, of how many. */
export const prefersMinimal = (c: Context<AppEnv>): boolean =>
  /(?:^|,)\s*return\s*=\s*"?minimal"?\s*(?:[;,]|$)/i.test(c.req.header('Prefer') ?? '')

/** The headers of an answer without a body that was asked for so. */
export const MINIMAL = { 'Preference-Applied': 'return=minimal' } as const
