import { AsyncLocalStorage } from 'node:async_hooks'
import { access, constants, statfs } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as pause } from 'node:timers/promises'
import {
  type Dialect,
  type LimitNode,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
} from 'kysely'
import { InFlight } from '../../concurrency/in-flight.ts'
import { Failure, systemCode } from '../../failure.ts'
import type { Outage } from '../availability/health-monitor.ts'
import { SQLITE_BUSY, sqliteCode, sqliteError } from '../availability/unavailable.ts'
import { DATABASE_FILE, LOCK_FILE, requireDatabase, requireStore } from '../data-folder.ts'
import type { Engine, StoreRole } from '../engine.ts'
import { BackgroundCheckpoint, MAX_IDLE_LOG } from './background-checkpoint.ts'
import { SqliteDriver } from './driver.ts'
import { watchPresence } from './file-presence.ts'
import { createFile, lockDataFolder, requireAccess } from './files.ts'
import { openSqliteSnapshot } from './snapshot.ts'

/** Maximum time that opening waits for other processes that open the same store, ms. */
const OPEN_TIMEOUT = 5_000

/**
 * SQLite's `busy_timeout`, in milliseconds. The wait blocks the event loop, so it is short for
 * writes, which are retried asynchronously. It is longer for reads, which are not retried but
 * hardly ever wait.
 */
const busyTimeout = { writing: 5, reading: 1_000 } as const

/**
 * Page cache of the reading connection, in KiB. With SQLite's default of 2 MiB, reads from a
 * database with a million documents miss the cache and take a quarter longer than from one with a
 * thousand.
 */
const readCache = 32 * 1024

const RESTART =
  'The database file was deleted, moved or replaced. Put it back, or restore a backup and restart the node.'

/**
 * Opens `gatehouse.sqlite` in the data folder. If they do not exist, a role other than `command`
 * creates both.
 *
 * @param onAvailabilityChange called when the database files are deleted, moved or replaced (role
 * `node` only), and with undefined when they are back.
 * @throws Failure `conflict` if another node uses the folder (role `node` only); `not-found` if there
 * is no store (role `command` only); `unavailable` if the folder or the file is unusable, or if the
 * folder contains keys but no database.
 */
export async function openSqlite(
  data: string,
  role: StoreRole,
  onAvailabilityChange: (outage: Outage | undefined) => void,
): Promise<Engine> {
  const opened: (() => void)[] = []
  const closeAll = () => {
    for (const close of opened.splice(0)) close()
  }
  try {
    if (role === 'command') requireStore(data)
    else requireDatabase(data)
    if (role === 'node') opened.unshift(lockDataFolder(data))
    const path = createFile(data, DATABASE_FILE)
    for (const file of [`${path}-wal`, `${path}-shm`]) requireAccess(file)
    const writer = new DatabaseSync(path, { timeout: busyTimeout.writing })
    opened.unshift(() => writer.close())
    await enableWal(writer)
    writer.exec('pragma synchronous = full')
    writer.exec('pragma foreign_keys = on')
    writer.exec(`pragma journal_size_limit = ${MAX_IDLE_LOG}`)
    const reader = new DatabaseSync(path, { readOnly: true, timeout: busyTimeout.reading })
    reader.exec(`pragma cache_size = -${readCache}`)
    // Closed before the writer: the last connection deletes the log, which a read-only one cannot
    // do.
    opened.unshift(() => reader.close())
    const watchFiles = (changed: (missing: string | undefined) => void) => {
      if (role === 'node') {
        const files = [path, `${path}-wal`, `${path}-shm`, join(data, LOCK_FILE)]
        opened.unshift(watchPresence(files, changed))
      }
    }
    return engineOf({ writer, reader, path, watchFiles, onAvailabilityChange, closeAll })
  } catch (error) {
    closeAll()
    throw explain(error, data)
  }
}

interface Opened {
  readonly writer: DatabaseSync
  readonly reader: DatabaseSync
  /** Path of the database file. */
  readonly path: string
  /** Calls back when a database file is missing, and with undefined when all are present. */
  readonly watchFiles: (changed: (missing: string | undefined) => void) => void
  readonly onAvailabilityChange: (outage: Outage | undefined) => void
  readonly closeAll: () => void
}

function engineOf({
  writer,
  reader,
  path,
  watchFiles,
  onAvailabilityChange,
  closeAll,
}: Opened): Engine {
  const inFlight = new InFlight()
  let writeFailed: (failure: unknown) => void = () => {}
  let committed: () => void = () => {}
  let outage: Outage | undefined
  const filesChanged = (missing: string | undefined) => {
    const reason = `${missing} was deleted, moved or replaced`
    outage = missing === undefined ? undefined : { since: Date.now(), reason, advice: RESTART }
    inFlight.rejectWith(
      outage && new Failure('unavailable', `The database is unavailable. ${RESTART}`),
    )
    onAvailabilityChange(outage)
  }
  const driver = new SqliteDriver({
    writer,
    reader,
    inFlight,
    onWriteFailure: (failure) => writeFailed(failure),
    onCommit: () => committed(),
  })
  const dialect: Dialect = {
    createAdapter: () => new GroupingAdapter(),
    createDriver: () => driver,
    createIntrospector: (db) => new SqliteIntrospector(db),
    createQueryCompiler: () => new StableQueryCompiler(),
  }
  // Changes with each commit of another connection, but not with commits of this one.
  const pragma = writer.prepare('pragma data_version')
  const version = () => {
    try {
      return pragma.get()?.data_version
    } catch (error) {
      throw sqliteError(error)
    }
  }
  const checkpoint = new BackgroundCheckpoint(writer, path)
  let seen = version()
  /** The version of reads at the last check of {@link Engine.changedOutside}. */
  let checked: unknown
  return {
    name: 'sqlite',
    dialect,
    execute: (query) => driver.execute(query),
    atomically: (work) => driver.atomically(work),
    read: (query) => driver.read(query),
    openSnapshot() {
      inFlight.enter()
      try {
        const { execute, close } = openSqliteSnapshot(path, () => checkpoint.start())
        return { execute, close: () => close().finally(() => inFlight.leave()) }
      } catch (error) {
        inFlight.leave()
        throw error
      }
    },
    async watch(_, onFeedChange) {
      // Called in the context of a transaction, in which followers must not read.
      committed = AsyncLocalStorage.bind(onFeedChange)
      seen = version()
      watchFiles(filesChanged)
    },
    acquireLock: async () => true,
    onWriteFailure(callback) {
      writeFailed = callback
    },
    isDiskFull: () => looksFull(path),
    outage: () => outage,
    changedOutside() {
      if (!writer.isOpen) return false
      // Reads of this turn need this version anyway. It is unchanged if nothing was committed.
      const committed = driver.version()
      if (committed === checked) return false
      const now = version()
      checked = committed
      if (now === seen) return false
      seen = now
      driver.refresh()
      return true
    },
    async close() {
      await inFlight.close()
      await checkpoint.ended()
      closeAll()
    },
  }
}

/** Free disk space below which the next change may fail, bytes. */
const MIN_FREE_SPACE = 1024 * 1024

/** Returns whether the disk of a file is nearly full, or the file is not writable. */
async function looksFull(path: string): Promise<boolean> {
  try {
    const { bavail, bsize } = await statfs(path)
    await access(path, constants.W_OK)
    return bavail * bsize < MIN_FREE_SPACE
  } catch {
    return true
  }
}

/**
 * Enables WAL mode. Retries, because SQLite may report a conflict with another process that does
 * the same without waiting for `busy_timeout`.
 */
async function enableWal(db: DatabaseSync): Promise<void> {
  const deadline = performance.now() + OPEN_TIMEOUT
  for (;;) {
    try {
      db.exec('pragma journal_mode = wal')
      return
    } catch (error) {
      if (sqliteCode(error) !== SQLITE_BUSY || performance.now() >= deadline) throw error
    }
    await pause(10)
  }
}

function explain(error: unknown, data: string): unknown {
  const unavailable = (message: string) => new Failure('unavailable', message, { cause: error })
  switch (systemCode(error)) {
    case 'EACCES':
    case 'EPERM': {
      const { path } = error as NodeJS.ErrnoException
      if (path !== undefined && path !== data) {
        return unavailable(
          `The file ${path} cannot be read and written: permission denied. Start the node as its owner.`,
        )
      }
      return unavailable(`The data folder ${data} is not writable: permission denied.`)
    }
    case 'EROFS':
      return unavailable(`The data folder ${data} is on a read-only file system.`)
    case 'ENOSPC':
      return unavailable(`The disk of the data folder ${data} is full.`)
    case 'EEXIST':
    case 'ENOTDIR':
      return unavailable(`The data folder ${data} is not a folder.`)
    case 'ERR_SQLITE_ERROR': {
      const { message } = sqliteError(error) as Error
      return unavailable(`The database in the data folder ${data} cannot be opened. ${message}`)
    }
    default:
      return error
  }
}

class GroupingAdapter extends SqliteAdapter {
  // Otherwise Kysely runs one query at a time, and no two writes could share a commit.
  override get supportsMultipleConnections(): boolean {
    return true
  }

  // Makes the migrator run in one transaction. It begins as IMMEDIATE and so serves as the lock.
  override get supportsTransactionalDdl(): boolean {
    return true
  }
}

/** Compiles `limit` like `limitRows`, so that a prepared statement keeps its plan. */
export class StableQueryCompiler extends SqliteQueryCompiler {
  protected override visitLimit(node: LimitNode): void {
    this.append('limit cast(')
    this.visitNode(node.limit)
    this.append(' as integer)')
  }
}
