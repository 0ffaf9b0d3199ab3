import { statSync } from 'node:fs'
import { stat } from 'node:fs/promises'

/** Interval at which the database files are checked, ms. */
const CHECK_INTERVAL = 1_000

/** Identifies a file independently of its name. */
interface FileIdentity {
  readonly dev: bigint
  readonly ino: bigint
}

/**
 * Checks every second, without blocking, that each path still refers to the same file. A process
 * can keep writing to open files that were deleted, but those writes are lost.
 *
 * @param changed called with the first path that refers to no file or to a different one, and with
 * undefined when all paths refer to their files again, such as after a folder was moved away and
 * back.
 * @returns a function that stops the checks.
 */
export function watchPresence(
  paths: readonly string[],
  changed: (missing: string | undefined) => void,
  every = CHECK_INTERVAL,
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
