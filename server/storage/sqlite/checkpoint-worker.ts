import { DatabaseSync } from 'node:sqlite'
import { workerData } from 'node:worker_threads'
import type { CheckpointTask } from './background-checkpoint.ts'

// Runs in a worker thread; see `background-checkpoint.ts`.

/** Maximum number of checkpoints. Each copies what was written during the one before. */
const MAX_CHECKPOINTS = 10

const { url, pages } = workerData as CheckpointTask
const db = new DatabaseSync(new URL(url))
try {
  const checkpoint = db.prepare('pragma wal_checkpoint(passive)')
  let copied = -1
  for (let at = 0; at < MAX_CHECKPOINTS; at++) {
    const { log, checkpointed } = checkpoint.get() as { log: number; checkpointed: number }
    // A snapshot that is still open keeps the rest of the log.
    if (checkpointed === copied) break
    copied = checkpointed
    if (log - checkpointed > pages) continue
    // Truncate the log, since the next commit that would restart it may come much later. Has no
    // effect if the log is in use.
    db.exec('pragma wal_checkpoint(truncate)')
    break
  }
} finally {
  db.close()
}
