import { join, resolve } from 'node:path'
import * as z from 'zod/mini'
import { COMMAND_LINE, createRecorder } from '../../audit/record.ts'
import type { Manifest } from '../../storage/backup/manifest.ts'
import { restore } from '../../storage/backup/restore.ts'
import { KEY_FILES } from '../../storage/data-folder.ts'
import { locationOf } from '../../storage/open.ts'
import { type BackupConfig, contentsOf, KEY_VARIABLES } from '../backup-contents.ts'
import type { RunCommand } from '../command.ts'

const input = z.object({ operands: z.tuple([z.string()]) })

export const run: RunCommand = (context) => {
  const [folder] = input.parse(context).operands
  return restoreByCommand(context.config, resolve(folder))
}

/**
 * Restores a backup into an empty data folder or database. Returns the lines to print.
 *
 * @param folder absolute.
 * @throws Failure see `restore`.
 */
async function restoreByCommand(config: BackupConfig, folder: string): Promise<string[]> {
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

/** Returns instructions for the keys that a node does not find by itself. */
function keyAdvice({ databaseUrl }: BackupConfig, { files }: Manifest, folder: string): string[] {
  const missing = KEY_FILES.filter((key) => databaseUrl !== undefined || files[key] === undefined)
  if (missing.length === 0) return []
  const settings = missing.map((key) =>
    files[key] === undefined
      ? KEY_VARIABLES[key]
      : `${KEY_VARIABLES[key]}_FILE=${join(folder, key)}`,
  )
  return [`Start the nodes with the keys of the backed-up server: ${settings.join(', ')}.`]
}
