import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import * as z from 'zod/mini'
import { createBackup } from '../../storage/backup/create-backup.ts'
import { KEY_FILES, OPERATOR_KEY_FILE, SECRET_KEY_FILE } from '../../storage/data-folder.ts'
import { locationOf } from '../../storage/open.ts'
import { type BackupConfig, contentsOf, KEY_VARIABLES } from '../backup-contents.ts'
import type { RunCommand } from '../command.ts'

const input = z.object({ operands: z.tuple([z.string()]) })

export const run: RunCommand = (context) => {
  const [folder] = input.parse(context).operands
  return createBackupByCommand(context.config, resolve(folder), context.version)
}

/**
 * Backs up the store and, from a data folder, its keys. Returns the lines to print.
 *
 * @param folder absolute.
 * @throws Failure see `createBackup`.
 */
async function createBackupByCommand(
  config: BackupConfig,
  folder: string,
  version: string,
): Promise<string[]> {
  const keys = keysOf(config)
  const manifest = await createBackup({ location: locationOf(config), folder, keys, version })
  const missing = KEY_FILES.filter((key) => !keys.includes(key)).map((key) => KEY_VARIABLES[key])
  return [
    `Backed up ${contentsOf(manifest)} to ${folder}.`,
    keys.length === 0
      ? 'The backup contains no keys.'
      : `The backup contains ${keys.join(' and ')}. Keep it as secret as the server.`,
    ...(missing.length === 0 ? [] : [`Store ${missing.join(' and ')} with it.`]),
  ]
}

/** Returns the key files that the data folder contains and a node uses. */
function keysOf({ data, databaseUrl, operatorKey, secretKey }: BackupConfig) {
  const configured = { [OPERATOR_KEY_FILE]: operatorKey, [SECRET_KEY_FILE]: secretKey }
  return KEY_FILES.filter(
    (key) =>
      databaseUrl === undefined && configured[key] === undefined && existsSync(join(data, key)),
  )
}
