import { lstatSync, mkdirSync } from 'node:fs'
import { homedir } from 'node:os'
import path from 'node:path'

/** @returns {string | undefined} systemd's `CacheDirectory`, or the user's folder for caches */
function cacheFolder() {
  const { CACHE_DIRECTORY, LOCALAPPDATA, XDG_CACHE_HOME } = process.env
  if (CACHE_DIRECTORY) return CACHE_DIRECTORY.split(':')[0]
  const folder =
    process.platform === 'win32' ? LOCALAPPDATA : XDG_CACHE_HOME || path.join(homedir(), '.cache')
  return folder && path.isAbsolute(folder) ? path.join(folder, 'gatehouse') : undefined
}

/** @param {import('node:fs').Stats} stats whether only this user can write the folder */
function isPrivate(stats) {
  if (process.getuid === undefined) return true
  return stats.isDirectory() && stats.uid === process.getuid() && (stats.mode & 0o022) === 0
}

/**
 * Returns the folder in which Node.js keeps compiled code, so that the next start is faster. It is
 * created with mode 0700.
 *
 * @returns {string | undefined} undefined if it cannot be used: the file system is read-only, or
 * another user can write to it and so add code (`sudo` may keep the HOME of its caller).
 */
export function compileCacheFolder() {
  const { NODE_COMPILE_CACHE } = process.env
  if (NODE_COMPILE_CACHE) return NODE_COMPILE_CACHE
  try {
    const folder = cacheFolder()
    if (folder === undefined) return undefined
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    return isPrivate(lstatSync(folder)) ? folder : undefined
  } catch {
    return undefined
  }
}
