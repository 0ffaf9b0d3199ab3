import { DatabaseSync } from 'node:sqlite'
import { Failure } from '../../failure.ts'
import { sqliteError } from '../availability/unavailable.ts'
import { sizeOf } from '../data-folder.ts'
import type { EngineSnapshot } from '../engine.ts'
import { SqliteStatements } from './statements.ts'

/**
 * Maximum sizes of the write-ahead log with which a snapshot is opened, and with which one stays
 * open, bytes. SQLite cannot reuse the log while a snapshot reads from it, so these bound it for all
 * snapshots together. A snapshot allows at least the difference to be written.
 */
const SNAPSHOT_LOG = { opened: 512 * 1024 * 1024, open: 1024 * 1024 * 1024 } as const

/** How often the size is checked while a snapshot makes no query, ms. */
const CHECK_INTERVAL = 1_000

/**
 * Opens a read transaction on a separate connection. Writers are not blocked. The transaction ends
 * once the log is too large, even if the snapshot is not closed.
 *
 * @param ending called immediately before the transaction ends, and if the log is too large to
 * begin one.
 * @throws Failure `unavailable` if the file cannot be read; `busy` if the log is too large. Queries
 * throw `busy` once it is.
 */
export function openSqliteSnapshot(
  path: string,
  ending: () => void,
  limits: Readonly<Record<keyof typeof SNAPSHOT_LOG, number>> = SNAPSHOT_LOG,
): EngineSnapshot {
  const isLogAbove = (bytes: number) => (sizeOf(`${path}-wal`) ?? 0) > bytes
  if (isLogAbove(limits.opened)) {
    ending()
    throw tooManyChanges('before')
  }
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
    const end = () => {
      clearInterval(timer)
      if (!db.isOpen) return
      ending()
      // Ends the transaction, too.
      db.close()
    }
    const endIfTooLarge = () => {
      if (isLogAbove(limits.open)) end()
    }
    // The reader may wait for its client.
    const timer = setInterval(endIfTooLarge, CHECK_INTERVAL).unref()
    const statements = new SqliteStatements(db)
    return {
      execute(query) {
        endIfTooLarge()
        if (!db.isOpen) throw tooManyChanges('during')
        try {
          return statements.execute(query)
        } catch (error) {
          throw sqliteError(error)
        }
      },
      async close() {
        end()
      },
    }
  } catch (error) {
    throw sqliteError(error)
  }
}

const tooManyChanges = (when: 'before' | 'during') =>
  new Failure(
    'busy',
    when === 'before'
      ? 'Too many changes were made while other exports, or a backup, ran. Try again once they have ended.'
      : 'Too many changes were made during this read. Try again when there are fewer changes.',
    { headers: { 'Retry-After': '5' } },
  )
