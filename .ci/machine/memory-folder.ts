import { existsSync, readFileSync, statfsSync } from 'node:fs'

/** The shared memory of Linux, a file system that keeps its files in memory. */
const SHARED_MEMORY = '/dev/shm'

/** Free space that the temporary files of all tests fit in, bytes. A run uses a third of it. */
const NEEDED = 8 * 1024 ** 3

/**
 * Returns a folder in memory for the temporary files of the tests, which makes creating databases
 * three times as fast; `undefined` if the machine has no such folder with enough space, or none in
 * which programs and devices can be created.
 */
export function findMemoryFolder(): string | undefined {
  if (!existsSync('/proc/mounts') || !existsSync(SHARED_MEMORY)) return undefined
  const mounts = readFileSync('/proc/mounts', 'utf8').split('\n')
  const options = mounts
    .map((line) => line.split(' '))
    .findLast(([, folder, type]) => folder === SHARED_MEMORY && type === 'tmpfs')?.[3]
  if (options === undefined || /\b(?:ro|noexec|nodev)\b/.test(options)) return undefined
  const { bavail, bsize } = statfsSync(SHARED_MEMORY)
  return bavail * bsize >= NEEDED ? SHARED_MEMORY : undefined
}
