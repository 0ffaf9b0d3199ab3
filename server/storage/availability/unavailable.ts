import { Failure, type FailureOptions, isStoreFailure, systemCode } from '../../failure.ts'

/** SQLite's result code SQLITE_BUSY: another connection holds a lock. */
export const SQLITE_BUSY = 5

const UNAVAILABLE = 'The database is unavailable. Try again.'

/** SQLite's result codes that are handled separately (https://sqlite.org/rescode.html). */
const [readOnly, ioError, corrupt, full, cannotOpen, notADatabase] = [8, 10, 11, 13, 14, 26]

/**
 * SQLite's primary result codes for problems of the system rather than the query, with their
 * messages (https://sqlite.org/rescode.html). {@link full} has a separate failure.
 */
const sqliteSystemErrors = new Map<number, string>([
  [SQLITE_BUSY, 'Another process has locked the database. Try again.'],
  [6, 'Another process has locked the database. Try again.'], // LOCKED
  [7, UNAVAILABLE], // NOMEM
  [readOnly, 'The database files are read-only.'],
  [ioError, 'The disk failed to read or write this part of the database.'],
  [corrupt, 'This part of the database is damaged and cannot be read.'],
  [cannotOpen, 'The database files cannot be opened.'],
  [15, UNAVAILABLE], // PROTOCOL
  [notADatabase, 'The database file is not a SQLite database.'],
])

/** SQLSTATEs of a full disk, and of a write in a read-only transaction. */
export const [POSTGRES_DISK_FULL, POSTGRES_READ_ONLY] = ['53100', '25006']

/** PostgreSQL is unavailable or unreachable. The same operation may succeed later. */
export class StoreUnavailable extends Failure {
  constructor(message = UNAVAILABLE, options: FailureOptions = {}) {
    super('unavailable', message, options)
  }
}

/**
 * A change that the database did not confirm: PostgreSQL became unavailable before it responded, or
 * the disk failed during SQLite's COMMIT. The change may have been made, or may still be made.
 * Callers that can identify the change look it up; all others report that the outcome is unknown.
 */
export class OutcomeUnknown extends StoreUnavailable {
  constructor(options: FailureOptions = {}) {
    super(
      'The database did not confirm the change, so it may or may not have been made. Check before you retry.',
      options,
    )
  }
}

/** A part of SQLite's file cannot be read or written. Other parts may still work. */
export class DamagedStore extends Failure {
  constructor(message: string, cause: unknown) {
    super('unavailable', message, { cause })
  }
}

/** Returns SQLite's primary result code of an error of `node:sqlite`, or undefined. */
export function sqliteCode(error: unknown): number | undefined {
  if (systemCode(error) !== 'ERR_SQLITE_ERROR') return undefined
  // The upper bits of an extended result code are more specific than needed.
  return (error as { errcode: number }).errcode & 0xff
}

/**
 * Converts an error of `node:sqlite`. Returns `Failure('unavailable')` for a problem of the system,
 * `insufficient-storage` for a full disk, and otherwise the error itself, such as a violated
 * constraint or an invalid query.
 */
export function sqliteError(error: unknown): unknown {
  const code = sqliteCode(error)
  if (code === full) return diskFull(error)
  const message = code === undefined ? undefined : sqliteSystemErrors.get(code)
  if (message === undefined) return error
  if (code === ioError || code === corrupt || code === notADatabase) {
    return new DamagedStore(message, error)
  }
  return new Failure('unavailable', message, { cause: error })
}

/**
 * Returns the failure for all changes of a transaction that SQLite rolled back because of this
 * error of COMMIT or of an earlier statement.
 *
 * @returns {@link OutcomeUnknown} if the disk failed during COMMIT. The frames may already be in
 * the write-ahead log, in which case SQLite recovers them after a restart. The next commit
 * overwrites them.
 */
export function commitFailure(error: unknown, during: 'statement' | 'commit'): Failure {
  const code = sqliteCode(error)
  if (code === full) return diskFull(error)
  if (code === ioError && during === 'commit') return new OutcomeUnknown({ cause: error })
  return new Failure(
    'unavailable',
    'The change could not be stored. Nothing was changed. Try again.',
    { cause: error },
  )
}

/** Returns the failure for a change that the disk of the database has no room for. */
export const diskFull = (cause: unknown) =>
  new Failure('insufficient-storage', 'The disk is full. Nothing was changed.', { cause })

/** The reason why SQLite accepts no writes if its disk is full. */
export const DISK_FULL = 'the disk is full'

/** Reasons why the database accepts no writes, by the error code of SQLite or PostgreSQL. */
const writeFailureReasons = new Map<number | string | undefined, string>([
  [readOnly, 'the database files are read-only'],
  [ioError, 'the disk failed'],
  [full, DISK_FULL],
  [cannotOpen, 'the database files cannot be opened'],
  [POSTGRES_DISK_FULL, 'the disk of PostgreSQL is full'],
  [POSTGRES_READ_ONLY, 'PostgreSQL is read-only'],
])

/**
 * Returns a human-readable reason if a failed change suggests that the database accepts no writes
 * at all; otherwise undefined.
 */
export function writeFailureReason(failure: unknown): string | undefined {
  if (!isStoreFailure(failure)) return undefined
  const { cause } = failure
  return writeFailureReasons.get(sqliteCode(cause) ?? systemCode(cause))
}
