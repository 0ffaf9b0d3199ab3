import type { Context } from 'hono'
import { invariant } from '../../contract/invariant.ts'
import type { AppEnv } from '../env.ts'

/** Returns a parameter of the route's path, for code that several routes share. */
export function pathParam(c: Context<AppEnv>, name: string): string {
  const value = c.req.param(name)
  invariant(value !== undefined, `the path of the route has the parameter ${name}`)
  return value
}
