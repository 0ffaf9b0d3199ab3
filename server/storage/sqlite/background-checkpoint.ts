import { extname } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import { pathToFileURL } from 'node:url'
import { Worker } from 'node:worker_threads'
import { sizeOf } from '../data-folder.ts'

/** Size of the log from which a commit copies it into the database, pages. SQLite's default. */
const CHECKPOINT_PAGES = 1_000

/**
 * Size to which the write-ahead log is truncated once all of it was copied into the database, bytes.
 * By default, SQLite keeps the space that it needed once, such as during an export.
 */
export const MAX_IDLE_LOG = 16 * 1024 * 1024

/** The data of the worker. */
export interface CheckpointTask {
  /** URI of the database file. */
  readonly url: string
  /** Remainder of the log that is not worth another checkpoint, pages. */
  readonly pages: number
}

// The built file has the extension of this one, `.js`.
const FILE = new URL(`./checkpoint-worker${extname(import.meta.url)}`, import.meta.url)

/**
 * Copies a long write-ahead log into the database (a checkpoint) in a worker thread, after a snapshot
 * for which it had to grow. The next commit would otherwise do that and block the event loop for
 * seconds. While the worker runs, commits do not copy the log. They do again after it has ended,
 * successfully or not, so the log stays limited even if changes arrive faster than they are copied.
 */
export class BackgroundCheckpoint {
  readonly #writer: DatabaseSync
  readonly #path: string
  readonly #copyLog: (path: string) => Promise<void>
  #requested = false
  #running: Promise<void> | undefined

  /** @param path of the database file. */
  constructor(writer: DatabaseSync, path: string, copyLog = copyLogInWorker) {
    this.#writer = writer
    this.#path = path
    this.#copyLog = copyLog
  }

  /** Call this immediately before a snapshot ends. */
  start(): void {
    if ((sizeOf(`${this.#path}-wal`) ?? 0) <= MAX_IDLE_LOG) return
    // A worker that is running may have copied all that this snapshot allowed.
    this.#requested = true
    this.#running ??= this.#run().finally(() => {
      this.#running = undefined
    })
  }

  /** Resolves when no worker is running. */
  async ended(): Promise<void> {
    await this.#running
  }

  async #run(): Promise<void> {
    this.#writer.exec('pragma wal_autocheckpoint = 0')
    while (this.#requested) {
      this.#requested = false
      await this.#copyLog(this.#path).catch(() => {})
    }
    this.#writer.exec(`pragma wal_autocheckpoint = ${CHECKPOINT_PAGES}`)
  }
}

/** Resolves when the worker has ended, successfully or not. */
async function copyLogInWorker(path: string): Promise<void> {
  const url = pathToFileURL(path)
  // A file that was deleted is not created again.
  url.searchParams.set('mode', 'rw')
  const task: CheckpointTask = { url: url.href, pages: CHECKPOINT_PAGES }
  const worker = new Worker(FILE, { execArgv: [], workerData: task })
  // Without a listener, an error would end the process.
  worker.on('error', () => {})
  await new Promise((resolve) => worker.once('exit', resolve))
}
