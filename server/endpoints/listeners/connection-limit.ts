import { readFileSync } from 'node:fs'

/** Bounds the connections of a node, so that it never runs out of file descriptors. */
export interface ConnectionLimit {
  /**
   * Takes a place for a connection; false where there is none. `kept`: also one of the places that
   * are kept for the administration.
   */
  enter(kept: boolean): boolean
  /** Gives a place back. */
  leave(): void
}

/** Descriptors that are not for connections: the store, the log, certificates, what comes up. */
const OTHERS = 96

/** Places for connections through endpoints that lead to the administration alone. */
const KEPT = 32

/**
 * Makes a {@link ConnectionLimit} from the number of files that this process may open. However many
 * connections there are, an operator still gets in, and the store still opens its files.
 *
 * @param files how many files may be open; see {@link openFilesLimit}.
 * @param listeners how many sockets listen now: each takes a descriptor, too.
 */
export function createConnectionLimit(files: number, listeners: () => number): ConnectionLimit {
  let open = 0
  return {
    enter(kept) {
      const places = files - OTHERS - listeners() - (kept ? 0 : KEPT)
      // Even with a limit that is too low for all this, some connections must be possible.
      if (open >= Math.max(places, kept ? 16 : 8)) return false
      open++
      return true
    },
    leave() {
      open--
    },
  }
}

/** How many files this process may have open (Linux); elsewhere, or if unlimited, a great many. */
export function openFilesLimit(): number {
  try {
    const limits = readFileSync('/proc/self/limits', 'utf8')
    const files = Number(/^Max open files +([0-9]+)/m.exec(limits)?.[1])
    return Number.isNaN(files) ? 1_000_000 : files
  } catch {
    return 1_000_000
  }
}
