import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { Failure } from '../../failure.ts'
import type { Change } from '../changes/transactions.ts'
import {
  DATABASE_FILE,
  HEALTH_SOCKET,
  KEY_FILES,
  LOCK_FILE,
  RESTORE_FOLDER,
  sizeOf,
} from '../data-folder.ts'
import { openStore } from '../open.ts'
import { lockDataFolder } from '../sqlite/files.ts'
import { copyKey } from './create-backup.ts'
import { describeFile, openFolder, summarizeNames, syncFile, syncFolder } from './files.ts'
import { type Manifest, STORE_FILE } from './manifest.ts'

/**
 * Restores a verified backup into a data folder that is empty or does not exist. The folder may
 * contain the keys of the backup, such as when only the database was lost. After an interruption,
 * no node starts with the folder, and the same restore can be repeated.
 *
 * @throws Failure `conflict` if a node uses the folder, or if it contains other files.
 */
export async function restoreToSqlite(
  folder: string,
  manifest: Manifest,
  data: string,
  adjust: (trx: Change) => Promise<void>,
): Promise<void> {
  openFolder(data)
  const release = lockDataFolder(data)
  try {
    const keys = KEY_FILES.filter((name) => manifest.files[name] !== undefined)
    requireEmpty(data, folder, keys)
    const partial = join(data, RESTORE_FOLDER)
    rmSync(partial, { recursive: true, force: true })
    mkdirSync(partial, { mode: 0o700 })
    syncFolder(data)
    for (const key of keys) {
      if (!existsSync(join(data, key))) copyKey(join(folder, key), join(data, key))
    }
    const database = join(partial, DATABASE_FILE)
    copyFileSync(join(folder, STORE_FILE), database)
    // The copy inherits the mode of the backup, which may be read-only.
    chmodSync(database, 0o600)
    syncFile(database)
    const { sha256 } = await describeFile(database)
    if (sha256 !== manifest.files[STORE_FILE].sha256) {
      throw new Failure('unavailable', `The restored copy in ${partial} differs from the backup.`)
    }
    const store = await openStore({ data: partial }, 'tool')
    try {
      await store.change(adjust)
    } finally {
      await store.close()
    }
    if (existsSync(`${database}-wal`)) {
      throw new Failure('unavailable', `The write-ahead log of ${database} could not be merged.`)
    }
    syncFile(database)
    renameSync(database, join(data, DATABASE_FILE))
    syncFolder(data)
    rmSync(partial, { recursive: true })
    syncFolder(data)
    syncFolder(dirname(data))
  } finally {
    release()
  }
}

/** Files of the lock that this restore holds. */
const LOCK_FILES = [LOCK_FILE, `${LOCK_FILE}-journal`]

function requireEmpty(data: string, folder: string, keys: readonly string[]): void {
  const others = readdirSync(data).filter((name) => {
    if (name === RESTORE_FOLDER || LOCK_FILES.includes(name)) return false
    // Left by a node that was killed.
    if (name === HEALTH_SOCKET) return false
    if (name === DATABASE_FILE) return sizeOf(join(data, name)) !== 0
    return !keys.includes(name) || !isSame(join(data, name), join(folder, name))
  })
  if (others.length === 0) return
  throw new Failure(
    'conflict',
    `The data folder ${data} is not empty (${summarizeNames(others.sort())}). A restore requires an empty folder: ` +
      'move the files away or use another folder with --data.',
  )
}

const isSame = (one: string, other: string): boolean =>
  readFileSync(one).equals(readFileSync(other))
