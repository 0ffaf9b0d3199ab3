import pg from 'pg'
import { Failure, type FailureOptions, systemCode } from '../failure.ts'

/** SQLite's result code when another connection holds a lock. */
export const busy = 5

const someTrouble = 'The store cannot be reached at the moment. Try again.'

/**
 * SQLite's primary result codes that speak of the machine and not of the query, with what to tell
 * people (https://sqlite.org/rescode.html).
 */
const sqliteTrouble = new Map<number, string>([
  [busy, 'Another process is holding the store. Try again.'],
  [6, 'Another process is holding the store. Try again.'], // LOCKED
  [7, someTrouble], // NOMEM
  [8, 'The store cannot be written: its files are read-only.'], // READONLY
  [10, 'The disk does not read or write the store.'], // IOERR
  [11, 'The store is damaged.'], // CORRUPT
  [13, 'The disk of the store is full.'], // FULL
  [14, 'The files of the store cannot be opened.'], // CANTOPEN
  [15, someTrouble], // PROTOCOL
  [26, 'The file of the store is not a database.'], // NOTADB
])

/**
 * PostgreSQL's SQLSTATEs that speak of the server and not of the query: whole classes, then single
 * codes (https://www.postgresql.org/docs/current/errcodes-appendix.html).
 */
const postgresTrouble = /^(08|28|3D|53|57|58|XX)|^(25006|25P03|40001|40P01|55P03)$/

/** The SQLSTATE of a text with the character U+0000, which PostgreSQL has no room for. */
const unstorable = '22021'

/** PostgreSQL's SQLSTATEs of a connection that ends, whatever it was doing at that moment. */
const ending = /^(08|57P0)/

/**
 * A change that was sent to a store which was gone before it answered. It may have been made, or
 * may still be; whoever knows by what to recognise it looks, all others say so.
 */
export class OutcomeUnknown extends Failure {
  constructor(options: FailureOptions = {}) {
    super(
      'unavailable',
      'We do not know whether the change was made: the store was gone before it answered. Look before you try again.',
      options,
    )
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
 * at fault, the error itself otherwise (a violated constraint, a mistake in a query).
 */
export function sqliteError(error: unknown): unknown {
  const message = sqliteTrouble.get(sqliteCode(error) ?? 0)
  return message === undefined ? error : new Failure('unavailable', message, { cause: error })
}

/**
 * What is to be thrown for an error of `pg`: `Failure('unavailable')` when the server or the way
 * to it is at fault, `bad-parameter` when a text was given that it cannot hold, the error itself
 * otherwise (a violated constraint, a mistake in a query).
 */
export function postgresError(error: unknown): unknown {
  if (error instanceof Failure || error instanceof TypeError || error instanceof RangeError) {
    return error
  }
  if (error instanceof pg.DatabaseError && error.code === unstorable) {
    return new Failure('bad-parameter', 'A text holds the character U+0000.', { cause: error })
  }
  // `pg` has no class for the errors of a connection; but what the server said has one.
  if (error instanceof pg.DatabaseError && !postgresTrouble.test(error.code ?? '')) return error
  return new Failure('unavailable', someTrouble, { cause: error })
}
