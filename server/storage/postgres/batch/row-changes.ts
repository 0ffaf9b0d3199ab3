import { systemCode } from '../../../failure.ts'
import { CONNECTION_WAIT } from '../../availability/connection-limits.ts'
import type { ChangeRow, RowStatement } from '../../engine.ts'
import type { Execute } from '../guarded-pool.ts'
import { Batcher, type BatchLimits } from './batcher.ts'
import { inputRows, inputValues, statementName } from './input-rows.ts'
import { isolates } from './isolates.ts'

/** Limits of the changes of one prepared statement. */
export const CHANGES: BatchLimits = {
  items: 128,
  bytes: 1024 * 1024,
  inFlight: 4,
  spacing: 2,
  waiting: 10_000,
  waitingBytes: 64 * 1024 * 1024,
  wait: CONNECTION_WAIT.statement,
}

/**
 * Maximum time that a batch waits for a lock, ms. Other rows must not wait for a long transaction
 * that has locked one of them.
 */
const LOCK_WAIT = 100

/** SQLSTATE of a statement that waited too long for a lock. */
const LOCK_NOT_AVAILABLE = '55P03'

/** Batches the changes of single rows, by statement. */
export class RowChanges {
  readonly #execute: Execute
  readonly #limits: BatchLimits
  readonly #batchers: Batcher<readonly string[], boolean>[] = []

  constructor(execute: Execute, limits: BatchLimits = CHANGES) {
    this.#execute = execute
    this.#limits = limits
  }

  /** Number of changes whose statement was not sent yet. */
  get waiting(): number {
    return this.#batchers.reduce((sum, { waiting }) => sum + waiting, 0)
  }

  /**
   * Prepares a statement. The changes of a turn of the event loop are one statement and one commit.
   * A change that has to wait for the lock of a longer transaction is not made.
   */
  readonly prepare = ({ name, columns, key, sql }: RowStatement): ChangeRow => {
    const setting = ['lock_timeout', String(LOCK_WAIT)] as const
    const statement = { name: statementName(name), text: sql(inputRows(columns, { setting })) }
    const keyAt = columns.indexOf(key)
    const batcher = new Batcher<readonly string[], boolean>(
      this.#limits,
      async (items) => {
        // In one order, so that concurrent statements cannot wait for each other.
        const values = inputValues(columns.length, items.toSorted(compareRows))
        try {
          const { rows } = await this.#execute({ ...statement, values })
          const changed = new Set(rows.map(([changedKey]) => changedKey))
          // Of equal changes, one was made.
          return items.map((item) => changed.delete(item[keyAt]))
        } catch (error) {
          if (items.length === 1 && stateOf(error) === LOCK_NOT_AVAILABLE) return [false]
          throw error
        }
      },
      isolates,
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

const stateOf = (error: unknown): string | undefined => systemCode((error as Error).cause)

/** Compares rows by their columns in order. */
function compareRows(one: readonly string[], other: readonly string[]): number {
  for (let at = 0; at < one.length; at++) {
    const [a, b] = [one[at] as string, other[at] as string]
    if (a !== b) return a < b ? -1 : 1
  }
  return 0
}
