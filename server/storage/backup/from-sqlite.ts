import { closeSync, openSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { DATABASE_FILE, requireStore } from '../data-folder.ts'
import {
  lastMigration,
  migrationsOf,
  quoteIdentifier,
  TRANSIENT_TABLES,
  tablesOf,
} from './tables.ts'

/** Maximum wait for a process that has locked the database, ms. */
const MAX_LOCK_WAIT = 5_000

/**
 * Copies the store of a data folder into a new file as a consistent snapshot. A running node can
 * read and write in the meantime.
 *
 * @throws Failure `not-found` if the folder contains no store; errors of SQLite.
 */
export function copyFromSqlite(data: string, target: string): void {
  requireStore(data)
  const path = join(data, DATABASE_FILE)
  // VACUUM INTO accepts an empty file, and keeps its mode.
  closeSync(openSync(target, 'wx', 0o600))
  const source = new DatabaseSync(path, { timeout: MAX_LOCK_WAIT })
  try {
    lastMigration(migrationsOf(source), `The data folder ${data}`)
    source.prepare('vacuum into ?').run(target)
  } finally {
    source.close()
  }
  const copy = new DatabaseSync(target, { enableForeignKeyConstraints: false })
  try {
    // A separate journal file would not be part of the backup.
    copy.exec('pragma journal_mode = delete; pragma secure_delete = on')
    for (const { name } of tablesOf(copy)) {
      if (TRANSIENT_TABLES.includes(name)) copy.exec(`delete from ${quoteIdentifier(name)}`)
    }
  } finally {
    copy.close()
  }
}
