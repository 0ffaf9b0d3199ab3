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

/** Waits until the content of a file is on disk. */
export function syncFile(path: string): void {
  sync(path, 'r+')
}

/** Waits until the names in a folder are on disk, where the system can do that. */
export function syncFolder(path: string): void {
  try {
    sync(path, 'r')
  } catch (error) {
    // Windows opens no folders.
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

/** Returns what a manifest says of a file, as it is on disk. */
export async function describeFile(path: string): Promise<Manifest['files']['store.sqlite']> {
  const hash = createHash('sha256')
  await pipeline(createReadStream(path), hash)
  return { bytes: statSync(path).size, sha256: hash.digest('hex') }
}

/**
 * Makes a folder (mode 0700) unless it exists, and lists what it holds. The second is whether it was
 * made.
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

/** The first of many names, as a sentence lists them. */
export const someOf = (names: readonly string[]): string =>
  names.length > 3 ? `${names.slice(0, 3).join(', ')}, …` : names.join(', ')

/**
 * Runs work on files and turns errors of the system and the database into a Failure.
 *
 * @param failed how its sentence begins: `The backup could not be written`.
 */
export async function explained<T>(failed: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof Failure) throw error
    const reason =
      error instanceof Error && error.message !== '' ? error.message : systemCode(error)
    throw new Failure('unavailable', `${failed}: ${reason ?? 'no reason given'}.`, { cause: error })
  }
}
