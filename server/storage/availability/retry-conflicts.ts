import { systemCode } from '../../failure.ts'
import { StoreUnavailable } from './unavailable.ts'

/** Maximum number of times that a transaction runs. Detecting a deadlock takes a second. */
const ATTEMPTS = 5

/**
 * SQLSTATEs with which PostgreSQL ends one of several conflicting transactions: they could not be
 * serialized, wait for each other, or insert the same key.
 */
const CONFLICTS: ReadonlySet<string | undefined> = new Set(['40001', '40P01', '23505'])

/**
 * Runs a transaction, and runs it again if PostgreSQL has rolled it back because of a deadlock or
 * another conflict.
 *
 * @param transaction receives the number of this attempt, from 1.
 * @param isRepeatable whether the transaction can run again after its statements so far.
 */
export async function retryConflicts<T>(
  transaction: (attempt: number) => Promise<T>,
  isRepeatable: () => boolean,
): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await transaction(attempt)
    } catch (error) {
      if (attempt === ATTEMPTS || !isConflict(error) || !isRepeatable()) throw error
    }
  }
}

const isConflict = (error: unknown) =>
  CONFLICTS.has(systemCode(error instanceof StoreUnavailable ? error.cause : error))
