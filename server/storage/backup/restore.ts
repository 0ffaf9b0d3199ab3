import { join } from 'node:path'
import { Failure } from '../../failure.ts'
import { KEY_FILES } from '../data-folder.ts'
import type { StoreLocation } from '../open.ts'
import type { Change } from '../transactions.ts'
import { adjustRestored } from './after-restore.ts'
import { checkStore } from './check-store.ts'
import { describeFile, explained } from './files.ts'
import { type Manifest, readManifest, STORE_FILE } from './manifest.ts'
import { lastMigration } from './tables.ts'
import { restoreToPostgres } from './to-postgres.ts'
import { restoreToSqlite } from './to-sqlite.ts'

/** What {@link restore} needs. */
export interface RestoreRequest {
  /** Where to: a data folder or a database that is missing or empty. */
  readonly location: StoreLocation
  /** Of the backup, absolute. */
  readonly folder: string
  /** Records the restore, in its last transaction. */
  readonly record: (trx: Change, manifest: Manifest) => Promise<void>
}

/**
 * Checks a backup and restores it, of either engine into either engine.
 *
 * @throws Failure `not-found` if the folder holds no complete backup, `invalid` if it is damaged;
 * `conflict` if a node runs on the target, or the target holds anything; `unavailable`.
 */
export function restore({ location, folder, record }: RestoreRequest): Promise<Manifest> {
  return explained('The backup could not be restored', async () => {
    const manifest = await checkBackup(folder)
    const adjust = async (trx: Change) => {
      await adjustRestored(trx, Date.now())
      await record(trx, manifest)
    }
    if ('data' in location) {
      await restoreToSqlite(folder, manifest, location.data, adjust)
    } else {
      await restoreToPostgres(folder, manifest, location.databaseUrl, adjust)
    }
    return manifest
  })
}

/** Checks that each file of a backup is as it was written, and returns the manifest. */
async function checkBackup(folder: string): Promise<Manifest> {
  const manifest = readManifest(folder)
  lastMigration([manifest.migration], `The backup in ${folder}`)
  for (const name of [STORE_FILE, ...KEY_FILES] as const) {
    const expected = manifest.files[name]
    if (expected === undefined) continue
    const path = join(folder, name)
    const found = await describeFile(path)
    if (found.bytes !== expected.bytes || found.sha256 !== expected.sha256) {
      throw new Failure('invalid', `The backup is damaged: ${path} is not as it was written.`)
    }
  }
  const { migration, tables } = checkStore(join(folder, STORE_FILE))
  const asWritten =
    migration === manifest.migration &&
    Object.keys(tables).length === Object.keys(manifest.tables).length &&
    Object.entries(tables).every(([name, rows]) => manifest.tables[name] === rows)
  if (!asWritten) {
    throw new Failure('invalid', `The backup is damaged: backup.json does not fit ${STORE_FILE}.`)
  }
  return manifest
}
