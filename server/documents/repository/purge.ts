import type { DocumentRepository } from './stored-documents.ts'

/** Deletes the documents and other rows of dropped databases in the background. */
export interface Purge {
  /** Starts a run. Call it at startup and after each dropped database. */
  wake(): void
  /** Stops before the next deletion. The next start deletes the rest. */
  stop(): Promise<void>
}

/**
 * Returns a {@link Purge}.
 *
 * @param isOwner returns whether this node does the work; checked before each run.
 * @param pause awaited between two deletions, so that other work can run.
 * @param others delete the other rows of dropped databases.
 */
export function createPurge(
  repository: DocumentRepository,
  isOwner: () => Promise<boolean>,
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
          if (!(await isOwner())) return
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
 * Deletes the documents of dropped databases in batches until `stopped`.
 *
 * @returns the number of deleted documents.
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
