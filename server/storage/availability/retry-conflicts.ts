import { systemCode } from '../../failure.ts'
import { StoreUnavailable } from './unavailable.ts'

/** Maximum number of times that a transaction runs. Detecting a deadlock takes a second. */
const ATTEMPTS = 5

/** SQLSTATEs with which PostgreSQL ends one of several conflicting transactions. */
const CONFLICTS: ReadonlySet<string | undefined> = new Set(['40001', '40P01'])

/**
 * Runs a transaction, and runs it again if PostgreSQL has rolled it back because of a deadlock or
 * another conflict.
 *
 * @param isRepeatable whether the transaction can run again after its statements so far.
 */
export async function retryConflicts<T>(
  transaction: () => Promise<T>,
  isRepeatable: () => boolean,
): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await transaction()
    } catch (error) {
      if (attempt === ATTEMPTS || !isConflict(error) || !isRepeatable()) throw error
    }
  }
}

const isConflict = (error: unknown) =>
  error instanceof StoreUnavailable && CONFLICTS.has(systemCode(error.cause))
