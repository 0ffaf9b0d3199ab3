import { type Conditions, matches } from '../../contract/conditions.ts'
import { Failure } from '../../failure.ts'

/** Revisions that a stored record may have; `none`: there must be none. */
export type ExpectedRevision = Conditions['match'] | 'none'

/** Returns whether the revision of an existing record meets a precondition. */
export const meets = (revision: number, expected: ExpectedRevision): boolean =>
  expected !== 'none' && matches({ match: expected }, String(revision))

/**
 * Checks the revision of a stored record against a precondition.
 *
 * @param kind of the record, such as "endpoint".
 * @param found undefined if there is no such record.
 * @throws Failure `precondition-failed`
 */
export function requireRevision(
  kind: string,
  name: string,
  found: number | undefined,
  expected: ExpectedRevision,
): void {
  if (expected === undefined || (expected === 'none' && found === undefined)) return
  if (found !== undefined && meets(found, expected)) return
  throw new Failure(
    'precondition-failed',
    expected === 'none'
      ? `The ${kind} ${name} already exists.`
      : found === undefined
        ? `The ${kind} no longer exists.`
        : `The ${kind} has been changed since you loaded it. Reload it and try again.`,
  )
}
