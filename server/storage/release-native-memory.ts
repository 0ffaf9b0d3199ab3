import { platform } from 'node:os'
import { DatabaseSync } from 'node:sqlite'

/**
 * Returns unused memory of the C library to the system, if it is glibc. Node.js cannot call
 * `malloc_trim`, but SQLite can, as the entry point of an extension. The function takes the first
 * argument, a pointer, as the number of bytes to keep at the end of the heap. It returns 1 if it has
 * released memory, which SQLite reports as an error.
 */
export function releaseNativeMemory(): void {
  if (platform() !== 'linux') return
  let db: DatabaseSync | undefined
  try {
    db = new DatabaseSync(':memory:', { allowExtension: true })
    db.loadExtension('libc.so.6', 'malloc_trim')
  } catch {
    // Released, or there is no glibc.
  } finally {
    db?.close()
  }
}
