import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { Failure } from '../../failure.ts'
import type { StoreLocation } from '../open.ts'
import { checkStore } from './check-store.ts'
import { describeFile, explained, openFolder, someOf, syncFile, syncFolder } from './files.ts'
import { copyFromPostgres } from './from-postgres.ts'
import { copyFromSqlite } from './from-sqlite.ts'
import { type BackupFile, FORMAT, MANIFEST_FILE, type Manifest, STORE_FILE } from './manifest.ts'

/** In the folder of a backup until it is complete. */
const PARTIAL_FOLDER = 'partial'

/** What {@link backUp} needs. */
export interface BackupRequest {
  readonly location: StoreLocation
  /** Absolute; missing or empty. */
  readonly folder: string
  /** Files of the data folder to put in, such as `operator.key`. */
  readonly keys: readonly Exclude<BackupFile, typeof STORE_FILE>[]
  /** The version of Gatehouse. */
  readonly version: string
}

/**
 * Backs up a store and its keys into a folder, beside running nodes: everything as of one moment,
 * checked after it was written, and on disk when this resolves. Files are renamed into place at the
 * end, `backup.json` last, so an interrupted backup does not look like one.
 *
 * @throws Failure `conflict` if the folder holds anything; `not-found` if there is no store;
 * `unavailable` if it could not be written or read. A failed backup leaves nothing behind.
 */
export function backUp(request: BackupRequest): Promise<Manifest> {
  const { folder } = request
  return explained('The backup could not be made', async () => {
    const { entries, isNew } = openFolder(folder)
    if (entries.length > 0) {
      throw new Failure(
        'conflict',
        `${folder} is not empty (${someOf(entries)}): a backup needs a new or an empty folder.`,
      )
    }
    const partial = join(folder, PARTIAL_FOLDER)
    // Of two at once, one fails here and leaves the other alone.
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

/** Copies a key into a file that does not exist yet (mode 0600); durable when it returns. */
export function copyKey(from: string, to: string): void {
  writeNew(to, readFileSync(from))
}

function writeNew(path: string, content: string | Uint8Array): void {
  writeFileSync(path, content, { flag: 'wx', mode: 0o600, flush: true })
}
