import { closeSync, openSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { Failure } from '../../failure.ts'
import { DATABASE_FILE, requireDatabase, sizeOf } from '../data-folder.ts'
import { lastMigration, migrationsOf, quoted, TRANSIENT_TABLES, tablesOf } from './tables.ts'

/** How long it waits for a process that has the database to itself, ms. */
const PATIENCE = 5_000

/**
 * Copies the store of a data folder into a new file, as of one moment, beside a running node: readers
 * and writers of the store do not wait for it.
 *
 * @throws Failure `not-found` if the folder holds no store; what SQLite reports.
 */
export function copyFromSqlite(data: string, target: string): void {
  requireDatabase(data)
  const path = join(data, DATABASE_FILE)
  if ((sizeOf(path) ?? 0) === 0) {
    throw new Failure('not-found', `The data folder ${data} holds no Gatehouse store.`)
  }
  // VACUUM INTO takes an empty file as well, and leaves its mode.
  closeSync(openSync(target, 'wx', 0o600))
  const source = new DatabaseSync(path, { timeout: PATIENCE })
  try {
    lastMigration(migrationsOf(source), `The data folder ${data}`)
    source.prepare('vacuum into ?').run(target)
  } finally {
    source.close()
  }
  const copy = new DatabaseSync(target, { enableForeignKeyConstraints: false })
  try {
    // A journal beside the file would not be part of the backup.
    copy.exec('pragma journal_mode = delete; pragma secure_delete = on')
    for (const { name } of tablesOf(copy)) {
      if (TRANSIENT_TABLES.includes(name)) copy.exec(`delete from ${quoted(name)}`)
    }
  } finally {
    copy.close()
  }
}
