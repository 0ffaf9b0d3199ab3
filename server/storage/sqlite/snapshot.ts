import { statSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { Failure } from '../../failure.ts'
import { sqliteError } from '../availability/unavailable.ts'
import type { EngineSnapshot } from '../engine.ts'
import { SqliteStatements } from './statements.ts'

/**
 * How much the write-ahead log may grow while a snapshot is open, bytes. SQLite cannot reuse the
 * log as long as a snapshot reads from it.
 */
export const SNAPSHOT_LOG_BYTES = 1024 * 1024 * 1024

/**
 * Opens a read transaction on a separate connection. Writers are not blocked.
 *
 * @throws Failure `unavailable` if the file cannot be read. Queries throw `busy` once the log has
 * grown by more than `logBytes`.
 */
export function openSqliteSnapshot(path: string, logBytes = SNAPSHOT_LOG_BYTES): EngineSnapshot {
  const logSize = () => statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0
  try {
    const db = new DatabaseSync(path, { readOnly: true, timeout: 1_000 })
    try {
      db.exec('begin')
      // The transaction begins with the first read.
      db.exec('select 1 from sqlite_schema')
    } catch (error) {
      db.close()
      throw error
    }
    const statements = new SqliteStatements(db)
    const maxLogSize = logSize() + logBytes
    return {
      execute(query) {
        if (logSize() > maxLogSize) throw tooManyChanges()
        try {
          return statements.execute(query)
        } catch (error) {
          throw sqliteError(error)
        }
      },
      async close() {
        // Ends the transaction, too.
        db.close()
      },
    }
  } catch (error) {
    throw sqliteError(error)
  }
}

const tooManyChanges = () =>
  new Failure(
    'busy',
    'Too many changes were made during this read. Try again when there are fewer changes.',
  )
