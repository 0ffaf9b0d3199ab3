import {
  closeSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { Failure } from '../../failure.ts'
import { DATABASE_FILE, requireStore } from '../data-folder.ts'
import type { StoreLocation } from '../open.ts'
import { checkStore } from './check-store.ts'
import {
  describeFile,
  explainErrors,
  openFolder,
  summarizeNames,
  syncFile,
  syncFolder,
} from './files.ts'
import { copyFromPostgres } from './from-postgres.ts'
import { type BackupFile, FORMAT, MANIFEST_FILE, type Manifest, STORE_FILE } from './manifest.ts'
import {
  lastMigration,
  migrationsOf,
  quoteIdentifier,
  TRANSIENT_TABLES,
  tablesOf,
} from './tables.ts'

/** Folder inside the backup folder that exists until the backup is complete. */
const PARTIAL_FOLDER = 'partial'

export interface BackupRequest {
  readonly location: StoreLocation
  /** Absolute path. The folder must be empty or not exist. */
  readonly folder: string
  /** Files of the data folder to include, such as `operator.key`. */
  readonly keys: readonly Exclude<BackupFile, typeof STORE_FILE>[]
  /** Version of Gatehouse. */
  readonly version: string
}

/**
 * Backs up a store and its keys into a folder while nodes are running. The backup is a consistent
 * snapshot, is verified after it is written, and is on disk when this resolves. Files are renamed
 * into place at the end, `backup.json` last, so an interrupted backup is not mistaken for a
 * complete one (docs/decisions/0018-sqlite-backup-format.md).
 *
 * @throws Failure `conflict` if the folder is not empty; `not-found` if there is no store;
 * `unavailable` if reading or writing fails. A failed backup leaves no files behind.
 */
export function createBackup(request: BackupRequest): Promise<Manifest> {
  const { folder } = request
  return explainErrors('The backup could not be made', async () => {
    const { entries, isNew } = openFolder(folder)
    if (entries.length > 0) {
      throw new Failure(
        'conflict',
        `${folder} is not empty (${summarizeNames(entries)}). Use a new or empty folder for a backup.`,
      )
    }
    const partial = join(folder, PARTIAL_FOLDER)
    // If two backups run at once, the second fails here without affecting the first.
    mkdirSync(partial, { mode: 0o700 })
    const names = [STORE_FILE, ...request.keys, MANIFEST_FILE]
    try {
      const manifest = await write(request, partial)
      for (const name of names) {
        renameSync(join(partial, name), join(folder, name))
        syncFolder(folder)
      }
      rmSync(partial, { recursive: true })
      syncFolder(folder)
      syncFolder(dirname(folder))
      return manifest
    } catch (error) {
      for (const name of [PARTIAL_FOLDER, ...names.toReversed()]) {
        rmSync(join(folder, name), { recursive: true, force: true })
      }
      if (isNew) rmSync(folder, { recursive: true })
      throw error
    }
  })
}

async function write(
  { location, keys, version }: BackupRequest,
  partial: string,
): Promise<Manifest> {
  const createdAt = new Date().toISOString()
  const store = join(partial, STORE_FILE)
  if ('data' in location) {
    copyFromSqlite(location.data, store)
    for (const key of keys) copyKey(join(location.data, key), join(partial, key))
  } else {
    await copyFromPostgres(location.databaseUrl, store)
  }
  syncFile(store)
  const manifest: Manifest = {
    format: FORMAT,
    gatehouse: version,
    createdAt,
    engine: 'data' in location ? 'sqlite' : 'postgres',
    ...checkStore(store),
    files: { [STORE_FILE]: await describeFile(store) },
  }
  for (const key of keys) manifest.files[key] = await describeFile(join(partial, key))
  writeNew(join(partial, MANIFEST_FILE), `${JSON.stringify(manifest, null, 2)}\n`)
  return manifest
}

/** Copies a key into a new file (mode 0600). The copy is on disk when this returns. */
export function copyKey(from: string, to: string): void {
  writeNew(to, readFileSync(from))
}

function writeNew(path: string, content: string | Uint8Array): void {
  writeFileSync(path, content, { flag: 'wx', mode: 0o600, flush: true })
}

/** Maximum wait for a process that has locked the database, ms. */
const MAX_LOCK_WAIT = 5_000

/**
 * Copies the store of a data folder into a new file as a consistent snapshot. A running node can
 * read and write in the meantime.
 *
 * @throws Failure `not-found` if the folder contains no store; errors of SQLite.
 */
function copyFromSqlite(data: string, target: string): void {
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
