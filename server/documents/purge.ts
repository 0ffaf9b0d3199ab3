import type { DocumentRepository } from './repository.ts'

/** Deletes the documents of dropped databases, and whatever else they leave, beside everything else. */
export interface Purge {
  /** Looks for some. To be called at the start, and whenever a database was dropped. */
  wake(): void
  /** Ends before the next deletion; what is left is found at the next start. */
  stop(): Promise<void>
}

/**
 * Makes a {@link Purge}.
 *
 * @param isOurs asked first: of several nodes one deletes, the others need not.
 * @param pause awaited between two deletions, for others to have their turn.
 * @param others what deletes the rest that dropped databases leave.
 */
export function createPurge(
  repository: DocumentRepository,
  isOurs: () => Promise<boolean>,
  pause: () => Promise<unknown>,
  onError: (error: unknown) => void,
  ...others: (() => Promise<void>)[]
): Purge {
  let stopped = false
  let running = Promise.resolve()
  return {
    wake() {
      running = running
        .then(async () => {
          if (!(await isOurs())) return
          await purgeDropped(repository, pause, () => stopped)
          for (const purge of others) if (!stopped) await purge()
        })
        .catch(onError)
    },
    stop() {
      stopped = true
      return running
    },
  }
}

/**
 * Deletes the documents of databases that were dropped, some at a time, until `stopped`.
 *
 * @returns how many were deleted.
 */
export async function purgeDropped(
  repository: DocumentRepository,
  pause: () => Promise<unknown>,
  stopped: () => boolean = () => false,
): Promise<number> {
  let purged = 0
  if (stopped()) return purged
  for (const database of await repository.databases()) {
    while (!stopped()) {
      const some = await repository.purge(database)
      if (some === 0) break
      purged += some
      await pause()
    }
  }
  return purged
}
