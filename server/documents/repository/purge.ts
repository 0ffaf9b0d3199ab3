import { type BackgroundLoop, createBackgroundLoop } from '../../concurrency/background-loop.ts'
import type { DocumentRepository } from './stored-documents.ts'

/**
 * Creates a loop that deletes the documents and other rows of dropped databases. Wake it at startup
 * and after each dropped database. What is left when it stops, the next start deletes.
 *
 * @param isOwner returns whether this node does the work; checked before each run.
 * @param pause awaited between two deletions, so that other work can run.
 * @param purgeOthers deletes the other rows of dropped databases.
 */
export function createPurge(
  repository: DocumentRepository,
  isOwner: () => Promise<boolean>,
  pause: () => Promise<unknown>,
  onError: (error: unknown) => void,
  purgeOthers: () => Promise<void>,
): BackgroundLoop {
  return createBackgroundLoop(async (isStopped) => {
    if (!(await isOwner())) return
    await purgeDropped(repository, pause, isStopped)
    if (!isStopped()) await purgeOthers()
  }, onError)
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
