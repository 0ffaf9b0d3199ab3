import pg from 'pg'
import { Failure, systemCode } from '../../../failure.ts'
import { isRejectedByServer } from '../postgres-error.ts'

/** SQLSTATEs that concern the server: no resources, an administrator's action, or read-only. */
const ofServer = /^(53|57|25)/

/**
 * Returns whether PostgreSQL may have rejected a statement because of one of its rows: a text that
 * it cannot store, a damaged row, a unique index, or a lock that another transaction holds.
 */
export function mayBeRowError(error: unknown): boolean {
  const cause = causeOf(error)
  return (
    cause instanceof pg.DatabaseError &&
    isRejectedByServer(cause) &&
    !ofServer.test(cause.code ?? '')
  )
}

/** Returns the SQLSTATE of an error, even if it is the cause of a failure. */
export const sqlStateOf = (error: unknown): string | undefined => systemCode(causeOf(error))

const causeOf = (error: unknown) => (error instanceof Failure ? error.cause : error)
