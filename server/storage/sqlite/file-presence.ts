import { statSync } from 'node:fs'
import { stat } from 'node:fs/promises'

/** How often the files of the database are checked, ms. */
const CHECK_EVERY = 1_000

/** Identifies a file on this machine, whatever its name. */
interface FileIdentity {
  readonly dev: bigint
  readonly ino: bigint
}

/**
 * Checks every second, without blocking, that each path still leads to the file that it leads to now.
 * A process can go on writing to open files that were deleted; everything it writes is lost.
 *
 * @param changed called with the first path that leads to no file or to another file, and with
 * undefined when all lead to their files again, as after moving a folder away and back.
 * @returns a function that stops it.
 */
export function watchPresence(
  paths: readonly string[],
  changed: (missing: string | undefined) => void,
  every = CHECK_EVERY,
): () => void {
  const files = paths.flatMap((path) => {
    const identity = statSync(path, { bigint: true, throwIfNoEntry: false })
    return identity === undefined ? [] : [{ path, identity }]
  })
  let missing: string | undefined
  let checking = false
  let stopped = false

  async function check(): Promise<void> {
    const present = await Promise.all(files.map(({ path, identity }) => isAt(path, identity)))
    const now = files[present.indexOf(false)]?.path
    if (stopped || now === missing) return
    missing = now
    changed(missing)
  }

  const timer = setInterval(() => {
    if (checking) return
    checking = true
    void check().finally(() => {
      checking = false
    })
  }, every)
  timer.unref()
  return () => {
    stopped = true
    clearInterval(timer)
  }
}

async function isAt(path: string, { dev, ino }: FileIdentity): Promise<boolean> {
  try {
    const found = await stat(path, { bigint: true })
    return found.dev === dev && found.ino === ino
  } catch {
    return false
  }
}
