import { statSync } from 'node:fs'
import { join } from 'node:path'
import { Failure } from '../failure.ts'

/** The SQLite database in a data folder. */
export const DATABASE_FILE = 'gatehouse.sqlite'

/** The file that a running node keeps locked. */
export const LOCK_FILE = 'lock.sqlite'

/** The operator key, as text. */
export const OPERATOR_KEY_FILE = 'operator.key'

/** The secret key: 32 bytes in base64. */
export const SECRET_KEY_FILE = 'secret.key'

/** In the data folder while a backup is being restored. */
export const RESTORE_FOLDER = 'restore.partial'

/** The keys that a data folder can hold. */
export const KEY_FILES = [OPERATOR_KEY_FILE, SECRET_KEY_FILE] as const

/** Returns the size of a file in bytes; undefined if there is no such file. */
export const sizeOf = (path: string): number | undefined =>
  statSync(path, { throwIfNoEntry: false })?.size

/**
 * Checks that a data folder with keys also has its database. Gatehouse creates the keys after the
 * database, so keys alone mean that the database was lost.
 *
 * @throws Failure `unavailable` if the database is missing or empty and there are keys, or a restore
 * that was interrupted.
 */
export function requireDatabase(data: string): void {
  if ((sizeOf(join(data, DATABASE_FILE)) ?? 0) > 0) return
  const restoring = join(data, RESTORE_FOLDER)
  if (sizeOf(restoring) !== undefined) {
    throw new Failure(
      'unavailable',
      `A restore into the data folder ${data} was interrupted: run "gatehouse restore FOLDER" ` +
        `again, or remove ${restoring} to start without it.`,
    )
  }
  const keys = KEY_FILES.filter((name) => sizeOf(join(data, name)) !== undefined)
  if (keys.length === 0) return
  throw new Failure(
    'unavailable',
    `The data folder ${data} holds ${keys.join(' and ')} but no database: run "gatehouse restore ` +
      `FOLDER" to restore a backup, or move ${keys.length === 1 ? 'this file' : 'these files'} ` +
      'away to start with an empty database.',
  )
}
