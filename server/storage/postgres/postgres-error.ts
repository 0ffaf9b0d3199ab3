import pg from 'pg'
import { Failure } from '../../failure.ts'
import {
  diskFull,
  POSTGRES_DISK_FULL,
  POSTGRES_READ_ONLY,
  StoreUnavailable,
} from '../availability/unavailable.ts'

/**
 * SQLSTATEs for problems of the server rather than the query: whole classes, then single codes
 * (https://www.postgresql.org/docs/current/errcodes-appendix.html).
 */
const postgresSystemErrors = /^(08|28|3D|53|57|58|XX)|^(25006|25P03|40001|40P01|55P03)$/

/** SQLSTATE of a text that contains the character U+0000, which PostgreSQL cannot store. */
const invalidCharacter = '22021'

/** SQLSTATEs that end the connection, independent of the query. */
const connectionEnded = /^(08|57P0)/

/** Returns whether PostgreSQL itself rejected the statement, so that it had no effect. */
export const isRejectedByServer = (error: unknown): boolean =>
  error instanceof pg.DatabaseError && !connectionEnded.test(error.code ?? '')

/** SQLSTATEs of a statement that conflicts with other transactions. */
const conflicts = /^(40001|40P01|55P03)$/

/**
 * Returns whether PostgreSQL rejected a statement because of other transactions. The connection
 * remains usable.
 */
export const isConflict = (error: unknown): boolean =>
  error instanceof pg.DatabaseError && conflicts.test(error.code ?? '')

/**
 * Converts an error of `pg`. Returns `Failure('unavailable')` for a problem of the server or the
 * connection, `insufficient-storage` for a full disk of the server, `bad-parameter` for a text that
 * PostgreSQL cannot store, and otherwise the error itself, such as a violated constraint or an
 * invalid query.
 */
export function postgresError(error: unknown): unknown {
  if (error instanceof Failure || error instanceof TypeError || error instanceof RangeError) {
    return error
  }
  if (error instanceof pg.DatabaseError && error.code === invalidCharacter) {
    return new Failure('bad-parameter', 'A string contains the character U+0000.', { cause: error })
  }
  if (error instanceof pg.DatabaseError && error.code === POSTGRES_DISK_FULL) return diskFull(error)
  if (error instanceof pg.DatabaseError && error.code === POSTGRES_READ_ONLY) {
    return new Failure('unavailable', 'The database is read-only. Try again.', {
      cause: error,
    })
  }
  // `pg` has no class for connection errors. Errors sent by the server are DatabaseErrors.
  if (error instanceof pg.DatabaseError && !postgresSystemErrors.test(error.code ?? ''))
    return error
  return new StoreUnavailable(undefined, { cause: error })
}
