import type { Context } from 'hono'
import type { AppEnv } from '../env.ts'
import { principalOf } from './require-role.ts'

/**
 * Returns the id of the caller for a job, which ends when the caller loses its role: of the token,
 * or of the person who is signed in. The route must require a role.
 */
export function callerIdOf(c: Context<AppEnv>): string {
  const { by, credential, personId } = principalOf(c)
  return by === 'token' ? `token:${credential}` : `person:${personId}`
}

/** Returns the caller of a request for limited work (`Caller`). The route must require a role. */
export const workCallerOf = (c: Context<AppEnv>) => ({
  id: callerIdOf(c),
  signal: c.req.raw.signal,
})
