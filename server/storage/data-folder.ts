import { statSync } from 'node:fs'
import { join } from 'node:path'
import { Failure } from '../failure.ts'

/** File name of the SQLite database. */
export const DATABASE_FILE = 'gatehouse.sqlite'

/** SQLite file that a running node keeps locked. */
export const LOCK_FILE = 'lock.sqlite'

/** File name of the operator key, which is stored as text. */
export const OPERATOR_KEY_FILE = 'operator.key'

/** File name of the secret key: 32 bytes, base64-encoded. */
export const SECRET_KEY_FILE = 'secret.key'

/** Unix socket at which a running node reports its health to the command `gatehouse health`. */
export const HEALTH_SOCKET = 'health.sock'

/** Folder inside the data folder that exists while a backup is being restored. */
export const RESTORE_FOLDER = 'restore.partial'

/** File names of the keys that a data folder can contain. */
export const KEY_FILES = [OPERATOR_KEY_FILE, SECRET_KEY_FILE] as const

/** Returns the size of a file in bytes, or undefined if the file does not exist. */
export const sizeOf = (path: string): number | undefined =>
  statSync(path, { throwIfNoEntry: false })?.size

/**
 * Checks that a data folder with keys also contains the database. Gatehouse creates the keys after
 * the database, so keys without a database mean that the database was lost.
 *
 * @throws Failure `unavailable` if the database is missing or empty and the folder contains keys or
 * an interrupted restore, or if the write-ahead log of the database is missing.
 */
export function requireDatabase(data: string): void {
  const database = join(data, DATABASE_FILE)
  if ((sizeOf(database) ?? 0) > 0) {
    requireLog(database)
    return
  }
  const restoring = join(data, RESTORE_FOLDER)
  if (sizeOf(restoring) !== undefined) {
    throw new Failure(
      'unavailable',
      `A restore into the data folder ${data} was interrupted. Run "gatehouse restore FOLDER" ` +
        `again, or remove ${restoring} to start without the restored data.`,
    )
  }
  const keys = KEY_FILES.filter((name) => sizeOf(join(data, name)) !== undefined)
  if (keys.length === 0) return
  throw new Failure(
    'unavailable',
    `The data folder ${data} contains ${keys.join(' and ')} but no database. Run "gatehouse restore ` +
      `FOLDER" to restore a backup, or move ${keys.length === 1 ? 'this file' : 'these files'} ` +
      'away to start with an empty database.',
  )
}

/**
 * Checks that a data folder contains a database.
 *
 * @throws Failure `not-found` if it does not; and like {@link requireDatabase}.
 */
export function requireStore(data: string): void {
  requireDatabase(data)
  if ((sizeOf(join(data, DATABASE_FILE)) ?? 0) > 0) return
  throw new Failure('not-found', `The data folder ${data} contains no Gatehouse database.`)
}

/**
 * Checks that the write-ahead log of a database was not removed. SQLite creates the log before its
 * index (`-shm`) and deletes it after the index, so an index without a log means that it was lost.
 */
function requireLog(database: string): void {
  const index = `${database}-shm`
  const isLogLost = sizeOf(index) !== undefined && sizeOf(`${database}-wal`) === undefined
  // Another process may have deleted both between the first two checks.
  if (!isLogLost || sizeOf(index) === undefined) return
  throw new Failure(
    'unavailable',
    `The file ${database}-wal with the last changes is missing. Put it back or restore a backup. To ` +
      `start without these changes, remove ${index}.`,
  )
}
