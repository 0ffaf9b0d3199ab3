import { readFileSync } from 'node:fs'

/** Limits the connections of a node so that it never runs out of file descriptors. */
export interface ConnectionLimit {
  /**
   * Counts a new connection. Returns false if the limit is reached. `reserved` also allows the
   * connections that are reserved for administration.
   */
  enter(reserved: boolean): boolean
  /** Counts a closed connection. */
  leave(): void
}

/** File descriptors reserved for the store, the log, certificates and other files. */
const OTHER_FILES = 96

/** Connections reserved for endpoints that serve `_system`. */
const RESERVED_CONNECTIONS = 32

/**
 * Creates a {@link ConnectionLimit} from the limit on open files. It keeps descriptors free for the
 * store and connections free for operators.
 *
 * @param files limit on open files; see {@link openFilesLimit}.
 * @param listeners returns the number of open listeners, each of which uses a descriptor.
 */
export function createConnectionLimit(files: number, listeners: () => number): ConnectionLimit {
  let open = 0
  return {
    enter(reserved) {
      const limit = files - OTHER_FILES - listeners() - (reserved ? 0 : RESERVED_CONNECTIONS)
      // Allow some connections even if the limit on open files is too low.
      if (open >= Math.max(limit, reserved ? 16 : 8)) return false
      open++
      return true
    },
    leave() {
      open--
    },
  }
}

/** Returns the limit on open files of this process (Linux); 1,000,000 if unknown or unlimited. */
export function openFilesLimit(): number {
  try {
    const limits = readFileSync('/proc/self/limits', 'utf8')
    const files = Number(/^Max open files +([0-9]+)/m.exec(limits)?.[1])
    return Number.isNaN(files) ? 1_000_000 : files
  } catch {
    return 1_000_000
  }
}
