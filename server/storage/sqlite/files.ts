import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { Failure, systemCode } from '../failure.ts'
import { LOCK_FILE } from './data-folder.ts'
import { busy, sqliteCode } from './unavailable.ts'

/**
 * Makes the data folder (mode 0700) and in it the empty file `name` (mode 0600), where they are
 * missing; what is there keeps its mode. Returns the path of the file.
 *
 * The file is never opened when it exists: closing any descriptor of a file drops all POSIX locks
 * that this process holds on it, SQLite's too (https://sqlite.org/howtocorrupt.html, 2.2).
 */
export function createFile(data: string, name: string): string {
  mkdirSync(data, { recursive: true, mode: 0o700 })
  const path = join(data, name)
  try {
    writeFileSync(path, '', { flag: 'wx', mode: 0o600 })
  } catch (error) {
    if (systemCode(error) !== 'EEXIST') throw error
  }
  return path
}

/**
 * Holds the data folder for one node until the returned function is called or the process ends,
 * however it ends: the kernel drops the lock with it.
 *
 * @throws Failure `conflict` when another node holds it.
 */
export function holdDataFolder(data: string): () => void {
  const lock = new DatabaseSync(createFile(data, LOCK_FILE), { timeout: 0 })
  try {
    lock.exec('begin exclusive')
  } catch (error) {
    lock.close()
    if (sqliteCode(error) !== busy) throw error
    throw new Failure(
      'conflict',
      `Another Gatehouse runs on the data folder ${data}. Stop it first, or give this one a folder of its own with --data.`,
      { cause: error },
    )
  }
  return () => lock.close()
}
