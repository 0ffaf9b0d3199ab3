import pg from 'pg'
import { Failure, systemCode } from '../../../failure.ts'
import { CONNECTION_WAIT } from '../../availability/connection-limits.ts'
import { type ChangeRow, RowLocked, type RowStatement } from '../../engine.ts'
import type { Execute } from '../connections/guarded-pool.ts'
import { isRejectedByServer } from '../postgres-error.ts'
import { Batcher, type BatchLimits } from './batcher.ts'
import { inputRows, inputValues, statementName } from './input-rows.ts'
import { type Pace, RoundTripPace } from './pace.ts'

/** Limits of the changes of one prepared statement. */
const LIMITS: BatchLimits = {
  rows: 128,
  bytes: 1024 * 1024,
  waiting: 10_000,
  waitingBytes: 64 * 1024 * 1024,
  wait: CONNECTION_WAIT.statement,
}

/**
 * Maximum time that a batch waits for a lock, ms. Other rows must not wait for a long transaction
 * that has locked one of them.
 */
const LOCK_WAIT = 100

/**
 * Maximum time that each part of a divided batch waits for a lock, ms. The undivided batch has
 * already waited. PostgreSQL has no shorter limit.
 */
const DIVIDED_LOCK_WAIT = 1

/** SQLSTATEs of a lock that was not available in time, and of a row that a unique index excludes. */
const LOCK_NOT_AVAILABLE = '55P03'
const UNIQUE_VIOLATION = '23505'

/** Batches the changes of single rows, by statement. */
export class RowChanges {
  readonly #execute: Execute
  readonly #pace: Pace
  readonly #batchers: Batcher<readonly string[], boolean>[] = []

  constructor(execute: Execute, pace: Pace = new RoundTripPace()) {
    this.#execute = execute
    this.#pace = pace
  }

  /** Number of changes whose statement was not sent yet. */
  get waiting(): number {
    return this.#batchers.reduce((sum, { waiting }) => sum + waiting, 0)
  }

  /**
   * Prepares a statement. The changes of a turn of the event loop are one statement and one commit.
   * A change that a unique index excludes is not made.
   */
  readonly prepare = ({ name, columns, key, sql }: RowStatement): ChangeRow => {
    const statementOf = (lockWait: number) => {
      const setting = ['lock_timeout', String(lockWait)] as const
      return { name: statementName(name), text: sql(inputRows(columns, { setting })) }
    }
    const whole = statementOf(LOCK_WAIT)
    const divided = statementOf(DIVIDED_LOCK_WAIT)
    const keyAt = columns.indexOf(key)
    const batcher = new Batcher<readonly string[], boolean>(
      LIMITS,
      this.#pace,
      async (items, errors) => {
        const statement = errors.some(isLockError) ? divided : whole
        // Sort the changes, so that concurrent statements cannot deadlock.
        const values = inputValues(columns.length, items.toSorted(compareRows))
        try {
          const { rows } = await this.#execute({ ...statement, values })
          const changed = new Set(rows.map(([changedKey]) => changedKey))
          // Of several equal changes, the first counts as made.
          return items.map((item) => changed.delete(item[keyAt]))
        } catch (error) {
          if (items.length > 1) throw error
          if (isLockError(error)) throw new RowLocked()
          if (sqlStateOf(error) === UNIQUE_VIOLATION) return [false]
          throw error
        }
      },
      mayBeRowError,
    )
    this.#batchers.push(batcher)
    return (...values) => {
      let bytes = 0
      for (const value of values) bytes += value.length
      return batcher.add(values, bytes)
    }
  }

  /** Rejects new changes, and resolves when all others have ended. */
  async close(): Promise<void> {
    await Promise.all(this.#batchers.map((batcher) => batcher.close()))
  }
}

const isLockError = (error: unknown) => sqlStateOf(error) === LOCK_NOT_AVAILABLE

/** Compares rows by their columns in order. */
function compareRows(one: readonly string[], other: readonly string[]): number {
  for (let at = 0; at < one.length; at++) {
    const [a, b] = [one[at] as string, other[at] as string]
    if (a !== b) return a < b ? -1 : 1
  }
  return 0
}

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
const sqlStateOf = (error: unknown): string | undefined => systemCode(causeOf(error))

const causeOf = (error: unknown) => (error instanceof Failure ? error.cause : error)
