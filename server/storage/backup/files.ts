import { createHash } from 'node:crypto'
import {
  closeSync,
  createReadStream,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  statSync,
} from 'node:fs'
import { pipeline } from 'node:stream/promises'
import { Failure, systemCode } from '../../failure.ts'
import type { Manifest } from './manifest.ts'

/** Flushes the content of a file to disk. */
export function syncFile(path: string): void {
  sync(path, 'r+')
}

/** Flushes the entries of a folder to disk, if the system supports it. */
export function syncFolder(path: string): void {
  try {
    sync(path, 'r')
  } catch (error) {
    // Windows cannot open folders.
    if (!['EISDIR', 'EPERM', 'EINVAL'].includes(systemCode(error) ?? '')) throw error
  }
}

function sync(path: string, flags: string): void {
  const file = openSync(path, flags)
  try {
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
}

/** Returns size and hash of a file for the manifest. */
export async function describeFile(path: string): Promise<Manifest['files']['store.sqlite']> {
  const hash = createHash('sha256')
  await pipeline(createReadStream(path), hash)
  return { bytes: statSync(path).size, sha256: hash.digest('hex') }
}

/**
 * Creates a folder (mode 0700) if it does not exist, and lists its entries. `isNew` is true if it
 * was created.
 *
 * @throws Failure `conflict` if the path is not a folder.
 */
export function openFolder(path: string): { entries: string[]; isNew: boolean } {
  try {
    const isNew = mkdirSync(path, { recursive: true, mode: 0o700 }) !== undefined
    return { entries: readdirSync(path).sort(), isNew }
  } catch (error) {
    const code = systemCode(error)
    if (code !== 'EEXIST' && code !== 'ENOTDIR') throw error
    throw new Failure('conflict', `${path} is not a folder.`, { cause: error })
  }
}

/** Joins the first three names for a message, with an ellipsis if there are more. */
export const summarizeNames = (names: readonly string[]): string =>
  names.length > 3 ? `${names.slice(0, 3).join(', ')}, …` : names.join(', ')

/**
 * Runs file operations, and converts errors of the system and the database to a Failure.
 *
 * @param failed beginning of the message, such as `The backup could not be written`.
 */
export async function explainErrors<T>(failed: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof Failure) throw error
    const reason =
      error instanceof Error && error.message !== '' ? error.message : systemCode(error)
    throw new Failure('unavailable', `${failed}: ${reason ?? 'no reason given'}.`, { cause: error })
  }
}
