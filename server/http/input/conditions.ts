import { type Conditions, readConditions } from '../../contract/conditions.ts'
import { Failure } from '../../failure.ts'
import type { RequestView } from '../env.ts'
import { requestHeader } from './request-header.ts'

/** Returns the conditions of a request on the current state. */
export const conditionsOf = (c: RequestView): Conditions =>
  readConditions(requestHeader(c, 'if-match'), requestHeader(c, 'if-none-match'))

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
