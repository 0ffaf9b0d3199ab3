import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { COMMAND_LINE, createRecorder } from '../../audit/record.ts'
import { backUp } from '../../storage/backup/back-up.ts'
import type { Manifest } from '../../storage/backup/manifest.ts'
import { restore } from '../../storage/backup/restore.ts'
import { KEY_FILES, OPERATOR_KEY_FILE, SECRET_KEY_FILE } from '../../storage/data-folder.ts'
import type { StoreLocation } from '../../storage/open.ts'
import type { Config } from '../config.ts'

type BackupConfig = Pick<Config, 'data' | 'databaseUrl' | 'operatorKey' | 'secretKey'>

/**
 * Backs up the store and, from a data folder, its keys. Returns the lines to print.
 *
 * @param folder absolute.
 * @throws Failure see `backUp`.
 */
export async function backUpByCommand(
  config: BackupConfig,
  folder: string,
  version: string,
): Promise<string[]> {
  const keys = keysOf(config)
  const manifest = await backUp({ location: locationOf(config), folder, keys, version })
  const missing = KEY_FILES.filter((key) => !keys.includes(key)).map((key) => VARIABLES[key])
  return [
    `Backed up ${contentsOf(manifest)} to ${folder}.`,
    keys.length === 0
      ? 'The backup contains no keys.'
      : `The backup contains ${keys.join(' and ')}. Keep it as secret as the server.`,
    ...(missing.length === 0 ? [] : [`Store ${missing.join(' and ')} with it.`]),
  ]
}

/**
 * Restores a backup into an empty data folder or database. Returns the lines to print.
 *
 * @param folder absolute.
 * @throws Failure see `restore`.
 */
export async function restoreByCommand(config: BackupConfig, folder: string): Promise<string[]> {
  const recordChange = createRecorder()
  const manifest = await restore({
    location: locationOf(config),
    folder,
    record: (trx, { createdAt, engine }) =>
      recordChange(trx, {
        actor: COMMAND_LINE,
        action: 'store.restore',
        target: createdAt,
        outcome: 'done',
        before: null,
        after: { createdAt, engine },
      }),
  })
  const target = config.databaseUrl === undefined ? config.data : 'the database'
  return [
    `Restored ${contentsOf(manifest)} of ${manifest.createdAt} to ${target}.`,
    ...keyAdvice(config, manifest, folder),
    'All sessions have ended, so people must sign in again. API tokens and roles are restored from the backup: ' +
      'revoke again the tokens that were revoked after it was made.',
  ]
}

const locationOf = ({ data, databaseUrl }: BackupConfig): StoreLocation =>
  databaseUrl === undefined ? { data } : { databaseUrl }

/** The environment variables that give a node its keys. */
const VARIABLES = {
  [OPERATOR_KEY_FILE]: 'GATEHOUSE_OPERATOR_KEY',
  [SECRET_KEY_FILE]: 'GATEHOUSE_SECRET_KEY',
} as const

/** Returns the key files that the data folder contains and a node uses. */
function keysOf({ data, databaseUrl, operatorKey, secretKey }: BackupConfig) {
  const given = { [OPERATOR_KEY_FILE]: operatorKey, [SECRET_KEY_FILE]: secretKey }
  return KEY_FILES.filter(
    (key) => databaseUrl === undefined && given[key] === undefined && existsSync(join(data, key)),
  )
}

/** Returns instructions for the keys that a node does not find by itself. */
function keyAdvice({ databaseUrl }: BackupConfig, { files }: Manifest, folder: string): string[] {
  const missing = KEY_FILES.filter((key) => databaseUrl !== undefined || files[key] === undefined)
  if (missing.length === 0) return []
  const settings = missing.map((key) =>
    files[key] === undefined ? VARIABLES[key] : `${VARIABLES[key]}_FILE=${join(folder, key)}`,
  )
  return [`Start the nodes with the keys of the backed-up server: ${settings.join(', ')}.`]
}

function contentsOf({ tables, files }: Manifest): string {
  const count = (table: string, noun: string) => {
    const rows = tables[table] ?? 0
    return `${rows.toLocaleString('en')} ${noun}${rows === 1 ? '' : 's'}`
  }
  const megabytes = (files['store.sqlite'].bytes / 1_000_000).toFixed(1)
  return `${count('documents', 'document')} and ${count('endpoints', 'endpoint')} (${megabytes} MB)`
}
