import type { Context } from 'hono'
import { Failure } from '../../failure.ts'
import type { AppEnv } from '../env.ts'
import { pathParam } from './path-param.ts'

/**
 * Returns the address in the path of a request.
 *
 * @throws Failure `bad-parameter` if the query also has one.
 */
export function pathAddress(c: Context<AppEnv>): string {
  if (c.req.query('endpoint') === undefined) return pathParam(c, 'address')
  throw new Failure(
    'bad-parameter',
    'The address is given both in the path and as endpoint. Send one of them.',
    { field: 'endpoint' },
  )
}
