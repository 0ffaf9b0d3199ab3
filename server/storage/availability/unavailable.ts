import pg from 'pg'
import { Failure, type FailureOptions, isStoreFailure, systemCode } from '../failure.ts'

/** SQLite's result code when another connection holds a lock. */
export const busy = 5

const someTrouble = 'The store cannot be reached at the moment. Try again.'

/** SQLite's result codes that are told apart here (https://sqlite.org/rescode.html). */
const [readOnly, ioError, corrupt, full, cannotOpen, notADatabase] = [8, 10, 11, 13, 14, 26]

/**
 * SQLite's primary result codes that speak of the machine and not of the query, with what to tell
 * people (https://sqlite.org/rescode.html). {@link full} has a failure of its own.
 */
const sqliteTrouble = new Map<number, string>([
  [busy, 'Another process is holding the store. Try again.'],
  [6, 'Another process is holding the store. Try again.'], // LOCKED
  [7, someTrouble], // NOMEM
  [readOnly, 'The store cannot be written: its files are read-only.'],
  [ioError, 'The disk cannot read or write this part of the store.'],
  [corrupt, 'This part of the store is damaged and cannot be read.'],
  [cannotOpen, 'The files of the store cannot be opened.'],
  [15, someTrouble], // PROTOCOL
  [notADatabase, 'The file of the store is not a database.'],
])

/**
 * PostgreSQL's SQLSTATEs that speak of the server and not of the query: whole classes, then single
 * codes (https://www.postgresql.org/docs/current/errcodes-appendix.html).
 */
const postgresTrouble = /^(08|28|3D|53|57|58|XX)|^(25006|25P03|40001|40P01|55P03)$/

/** PostgreSQL's SQLSTATEs of a full disk, and of a change in a read-only transaction. */
const [postgresDiskFull, postgresReadOnly] = ['53100', '25006']

/** The SQLSTATE of a text with the character U+0000, which PostgreSQL has no room for. */
const unstorable = '22021'

/** PostgreSQL's SQLSTATEs of a connection that ends, whatever it was doing at that moment. */
const ending = /^(08|57P0)/

/** PostgreSQL, or the way to it, is unavailable now. The same step may succeed later. */
export class StoreUnavailable extends Failure {
  constructor(message = someTrouble, options: FailureOptions = {}) {
    super('unavailable', message, options)
  }
}

/**
 * A change that the store did not confirm: PostgreSQL was gone before it answered, or the disk failed
 * during SQLite's COMMIT. It may have been made, or may still be; callers that can recognise it look
 * for it, all others report that they do not know.
 */
export class OutcomeUnknown extends StoreUnavailable {
  constructor(options: FailureOptions = {}) {
    super(
      'We do not know whether the change was made: the store did not confirm it. Look before you try again.',
      options,
    )
  }
}

/** Part of SQLite's file cannot be read or written. Other parts may be: the caller goes on with them. */
export class DamagedStore extends Failure {
  constructor(message: string, cause: unknown) {
    super('unavailable', message, { cause })
  }
}

/** Whether it was PostgreSQL that said no, and so has not done what it was asked. */
export const hasSpoken = (error: unknown): boolean =>
  error instanceof pg.DatabaseError && !ending.test(error.code ?? '')

/** SQLite's primary result code of an error of `node:sqlite`, or `undefined`. */
export function sqliteCode(error: unknown): number | undefined {
  if (systemCode(error) !== 'ERR_SQLITE_ERROR') return undefined
  // The upper bits of an extended code say more than anybody here asks.
  return (error as { errcode: number }).errcode & 0xff
}

/**
 * What is to be thrown for an error of `node:sqlite`: `Failure('unavailable')` when the machine is
 * at fault, `insufficient-storage` when its disk is full, the error itself otherwise (a violated
 * constraint, a mistake in a query).
 */
export function sqliteError(error: unknown): unknown {
  const code = sqliteCode(error)
  if (code === full) return diskFull(error)
  const message = sqliteTrouble.get(code ?? 0)
  if (message === undefined) return error
  if (code === ioError || code === corrupt || code === notADatabase) {
    return new DamagedStore(message, error)
  }
  return new Failure('unavailable', message, { cause: error })
}

/**
 * The failure of all changes of a transaction that SQLite rolled back, with the error of the COMMIT or
 * of the statement before it.
 *
 * @returns {@link OutcomeUnknown} where the disk failed during COMMIT: its frames may already be in
 * the log, and after a restart SQLite recovers them, although it has reported the error. The next
 * commit overwrites them.
 */
export function notCommitted(error: unknown, during: 'statement' | 'commit'): Failure {
  const code = sqliteCode(error)
  if (code === full) return diskFull(error)
  if (code === ioError && during === 'commit') return new OutcomeUnknown({ cause: error })
  return new Failure(
    'unavailable',
    'The change could not be stored, and nothing of it was kept. Try again.',
    { cause: error },
  )
}

const diskFull = (cause: unknown) =>
  new Failure(
    'insufficient-storage',
    'The disk of the store is full. Nothing of the change was kept.',
    { cause },
  )

/**
 * What is to be thrown for an error of `pg`: `Failure('unavailable')` when the server or the way
 * to it is at fault, `insufficient-storage` when its disk is full, `bad-parameter` when a text was given that it cannot hold, the error itself
 * otherwise (a violated constraint, a mistake in a query).
 */
export function postgresError(error: unknown): unknown {
  if (error instanceof Failure || error instanceof TypeError || error instanceof RangeError) {
    return error
  }
  if (error instanceof pg.DatabaseError && error.code === unstorable) {
    return new Failure('bad-parameter', 'A text holds the character U+0000.', { cause: error })
  }
  if (error instanceof pg.DatabaseError && error.code === postgresDiskFull) return diskFull(error)
  if (error instanceof pg.DatabaseError && error.code === postgresReadOnly) {
    return new Failure('unavailable', 'The store is read-only at the moment. Try again.', {
      cause: error,
    })
  }
  // `pg` has no class for the errors of a connection; but what the server said has one.
  if (error instanceof pg.DatabaseError && !postgresTrouble.test(error.code ?? '')) return error
  return new StoreUnavailable(someTrouble, { cause: error })
}

/** Why a store accepts no changes, by the error of SQLite or PostgreSQL. */
const refusals = new Map<number | string | undefined, string>([
  [readOnly, 'the files of the store are read-only'],
  [ioError, 'the disk of the store fails'],
  [full, 'the disk of the store is full'],
  [cannotOpen, 'the files of the store cannot be opened'],
  [postgresDiskFull, 'the disk of PostgreSQL is full'],
  [postgresReadOnly, 'PostgreSQL is read-only'],
])

/**
 * Returns why a store may accept no changes at all, for people; undefined where the failure of a change
 * does not suggest that.
 */
export function refusesWrites(failure: unknown): string | undefined {
  if (!isStoreFailure(failure)) return undefined
  const { cause } = failure
  return refusals.get(cause instanceof pg.DatabaseError ? cause.code : sqliteCode(cause))
}
