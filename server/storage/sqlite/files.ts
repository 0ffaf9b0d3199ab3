import { accessSync, constants, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { Failure, systemCode } from '../../failure.ts'
import { SQLITE_BUSY, sqliteCode } from '../availability/unavailable.ts'
import { LOCK_FILE } from '../data-folder.ts'

/**
 * Creates the data folder (mode 0700) and the empty file `name` in it (mode 0600) if they do not
 * exist. Existing ones keep their mode. Returns the path of the file.
 *
 * An existing file is never opened: closing any descriptor of a file drops all POSIX locks that
 * this process holds on it, including SQLite's (https://sqlite.org/howtocorrupt.html, 2.2).
 */
export function createFile(data: string, name: string): string {
  mkdirSync(data, { recursive: true, mode: 0o700 })
  // SQLite also creates and deletes files.
  accessSync(data, constants.W_OK)
  const path = join(data, name)
  try {
    writeFileSync(path, '', { flag: 'wx', mode: 0o600 })
  } catch (error) {
    if (systemCode(error) !== 'EEXIST') throw error
    requireAccess(path)
  }
  return path
}

/**
 * Checks that this process may read and write a file, if it exists. SQLite would open it read-only.
 *
 * @throws the system's error.
 */
export function requireAccess(path: string): void {
  try {
    accessSync(path, constants.R_OK | constants.W_OK)
  } catch (error) {
    if (systemCode(error) !== 'ENOENT') throw error
  }
}

/**
 * Locks the data folder for one node until the returned function is called or the process exits.
 * The kernel releases the lock in any case, even after a crash.
 *
 * @throws Failure `conflict` if another node holds the lock.
 */
export function lockDataFolder(data: string): () => void {
  const lock = new DatabaseSync(createFile(data, LOCK_FILE), { timeout: 0 })
  try {
    lock.exec('begin exclusive')
  } catch (error) {
    lock.close()
    if (sqliteCode(error) !== SQLITE_BUSY) throw error
    throw new Failure(
      'conflict',
      `Another Gatehouse process is using the data folder ${data}. Stop it first, or use another folder with --data.`,
      { cause: error },
    )
  }
  return () => lock.close()
}
