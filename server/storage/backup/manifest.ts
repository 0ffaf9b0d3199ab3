import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import * as z from 'zod/mini'
import { Failure, systemCode } from '../../failure.ts'
import { OPERATOR_KEY_FILE, SECRET_KEY_FILE } from '../data-folder.ts'

/** Written last: a folder without it holds no complete backup. */
export const MANIFEST_FILE = 'backup.json'

/** The store: an SQLite database, whichever engine it was backed up from. */
export const STORE_FILE = 'store.sqlite'

/** The newest format that this version reads, and the one that it writes. */
export const FORMAT = 1

const file = z.object({ bytes: z.number(), sha256: z.string() })

const manifest = z.object({
  format: z.literal(FORMAT),
  /** The version that made the backup, for people. */
  gatehouse: z.string(),
  createdAt: z.iso.datetime(),
  /** The engine that it was made from, for people. */
  engine: z.enum(['sqlite', 'postgres']),
  /** The last migration of the store. */
  migration: z.string(),
  /** How many rows each table has. */
  tables: z.record(z.string(), z.number()),
  files: z.strictObject({
    [STORE_FILE]: file,
    [OPERATOR_KEY_FILE]: z.optional(file),
    [SECRET_KEY_FILE]: z.optional(file),
  }),
})

/** Describes a backup; stored as `backup.json`. */
export type Manifest = z.infer<typeof manifest>

/** The name of a file that a manifest describes. */
export type BackupFile = keyof Manifest['files']

/**
 * Reads the manifest of a backup.
 *
 * @throws Failure `not-found` if the folder holds no complete backup, `conflict` if its format is
 * newer, `invalid` if it is damaged.
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
      `${folder} holds no complete backup: ${MANIFEST_FILE} is missing.`,
      { cause: error },
    )
  }
  const parsed = manifest.safeParse(content)
  if (parsed.success) return parsed.data
  const format = z.object({ format: z.number() }).safeParse(content)
  if (format.success && format.data.format > FORMAT) {
    throw new Failure('conflict', `The backup in ${folder} was made by a newer Gatehouse.`)
  }
  throw damaged(path, parsed.error)
}

const damaged = (path: string, cause: unknown) =>
  new Failure('invalid', `The backup is damaged: ${path} cannot be understood.`, { cause })
