import { join } from 'node:path'
import type { Transaction } from 'kysely'
import { Failure } from '../../failure.ts'
import type { Change } from '../changes/transactions.ts'
import { KEY_FILES } from '../data-folder.ts'
import type { EngineName } from '../engine.ts'
import { createEpoch, createFeedTriggers } from '../feed-triggers.ts'
import type { StoreLocation } from '../open.ts'
import type { Tables } from '../tables.ts'
import { checkStore } from './check-store.ts'
import { describeFile, explainErrors } from './files.ts'
import { type Manifest, readManifest, STORE_FILE } from './manifest.ts'
import { lastMigration } from './tables.ts'
import { restoreToPostgres } from './to-postgres.ts'
import { restoreToSqlite } from './to-sqlite.ts'

export interface RestoreRequest {
  /** Target of the restore. The data folder or database must be empty or not exist. */
  readonly location: StoreLocation
  /** Absolute path of the backup. */
  readonly folder: string
  /** Writes audit entries for the restore, in its last transaction. */
  readonly record: (trx: Change, manifest: Manifest) => Promise<void>
}

/**
 * Verifies a backup and restores it. The engine may differ from that of the original.
 *
 * @throws Failure `not-found` if the folder contains no complete backup; `invalid` if it is
 * damaged; `conflict` if a node uses the target, or the target is not empty; `unavailable`.
 */
export function restore({ location, folder, record }: RestoreRequest): Promise<Manifest> {
  return explainErrors('The backup could not be restored', async () => {
    const manifest = await checkBackup(folder)
    const adjust = async (trx: Change) => {
      await adjustRestored(trx, 'data' in location ? 'sqlite' : 'postgres', Date.now())
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

/** Verifies size and hash of each file of a backup, and returns the manifest. */
async function checkBackup(folder: string): Promise<Manifest> {
  const manifest = readManifest(folder)
  lastMigration([manifest.migration], `The backup in ${folder}`)
  for (const name of [STORE_FILE, ...KEY_FILES] as const) {
    const expected = manifest.files[name]
    if (expected === undefined) continue
    const path = join(folder, name)
    const found = await describeFile(path)
    if (found.bytes !== expected.bytes || found.sha256 !== expected.sha256) {
      throw new Failure('invalid', `The backup is damaged: ${path} does not match its checksum.`)
    }
  }
  const { migration, tables } = checkStore(join(folder, STORE_FILE))
  const asWritten =
    migration === manifest.migration &&
    Object.keys(tables).length === Object.keys(manifest.tables).length &&
    Object.entries(tables).every(([name, rows]) => manifest.tables[name] === rows)
  if (!asWritten) {
    throw new Failure('invalid', `The backup is damaged: backup.json does not match ${STORE_FILE}.`)
  }
  return manifest
}

/**
 * Adjusts a restored store to changes that were made after the backup:
 * - Revisions continue from the current time in ms, so that revisions seen by clients or nodes
 *   after the backup are not reused.
 * - Claims on jobs are released, so that the next node can continue them.
 * - Indexes of documents are built again, because a backup does not contain their entries.
 * - Proposed endpoints that no node had opened are deleted.
 * - Feeds begin again with new epochs, because a backup does not contain their changes.
 * - Webhooks are paused: the original may still run and deliver to the same receivers.
 */
async function adjustRestored(
  trx: Transaction<Tables>,
  engine: EngineName,
  now: number,
): Promise<void> {
  await trx
    .updateTable('counters')
    .set({ value: now })
    .where('name', '=', 'revision')
    .where('value', '<', now)
    .execute()
  await trx.updateTable('jobs').set({ claimed_until: 0 }).execute()
  await trx
    .updateTable('document_indexes')
    .set({ state: 'building', cursor: null, done: 0, total: null })
    .where('state', 'in', ['building', 'ready'])
    .execute()
  await trx.deleteFrom('endpoints').where('proposal', 'is not', null).execute()
  await trx
    .updateTable('webhooks')
    .set({ paused: 1, reason: 'The database was restored from a backup.' })
    .execute()
  for (const { id } of await trx.selectFrom('feeds').select('id').execute()) {
    await trx
      .updateTable('feeds')
      .set({ epoch: createEpoch(), first: 0, last: 0, bytes: 0 })
      .where('id', '=', id)
      .execute()
    await createFeedTriggers(trx, engine)
  }
}
