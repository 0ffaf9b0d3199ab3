import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import * as z from 'zod/mini'
import { Failure, systemCode } from '../../failure.ts'
import { OPERATOR_KEY_FILE, SECRET_KEY_FILE } from '../data-folder.ts'

/** Written last. A folder without it is not a complete backup. */
export const MANIFEST_FILE = 'backup.json'

/** The store as an SQLite database, for backups of both engines. */
export const STORE_FILE = 'store.sqlite'

/** Format that this version writes, and the newest that it reads. */
export const FORMAT = 1

const file = z.object({ bytes: z.number(), sha256: z.string() })

const manifest = z.object({
  format: z.literal(FORMAT),
  /** Version that made the backup. Informational. */
  gatehouse: z.string(),
  createdAt: z.iso.datetime(),
  /** Engine that was backed up. Informational. */
  engine: z.enum(['sqlite', 'postgres']),
  /** Last migration of the store. */
  migration: z.string(),
  /** Number of rows by table. */
  tables: z.record(z.string(), z.number()),
  files: z.strictObject({
    [STORE_FILE]: file,
    [OPERATOR_KEY_FILE]: z.optional(file),
    [SECRET_KEY_FILE]: z.optional(file),
  }),
})

/** Content of `backup.json`. */
export type Manifest = z.infer<typeof manifest>

/** Name of a file in a backup. */
export type BackupFile = keyof Manifest['files']

/**
 * Reads the manifest of a backup.
 *
 * @throws Failure `not-found` if the folder contains no complete backup, `conflict` if its format
 * is newer, `invalid` if it is damaged.
 */
export function readManifest(folder: string): Manifest {
  const path = join(folder, MANIFEST_FILE)
  let content: unknown
  try {
    content = JSON.parse(readFileSync(path, 'utf8'))
  } catch (error) {
    if (error instanceof SyntaxError) throw damaged(path, error)
    if (systemCode(error) !== 'ENOENT' && systemCode(error) !== 'ENOTDIR') throw error
    throw new Failure(
      'not-found',
      `${folder} does not contain a complete backup: ${MANIFEST_FILE} is missing.`,
      { cause: error },
    )
  }
  const parsed = manifest.safeParse(content)
  if (parsed.success) return parsed.data
  const format = z.object({ format: z.number() }).safeParse(content)
  if (format.success && format.data.format > FORMAT) {
    throw new Failure(
      'conflict',
      `The backup in ${folder} was made by a newer version of Gatehouse.`,
    )
  }
  throw damaged(path, parsed.error)
}

const damaged = (path: string, cause: unknown) =>
  new Failure('invalid', `The backup is damaged: ${path} cannot be parsed.`, { cause })
