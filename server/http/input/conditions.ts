import { type Conditions, matches, readConditions } from '../../contract/conditions.ts'
import { Failure } from '../../failure.ts'
import type { RequestView } from '../env.ts'
import { requestHeader } from './request-header.ts'

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
