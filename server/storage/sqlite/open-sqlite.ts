import { access, constants, statfs } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as pause } from 'node:timers/promises'
import { type Dialect, SqliteAdapter, SqliteIntrospector, SqliteQueryCompiler } from 'kysely'
import { Failure, systemCode } from '../failure.ts'
import { DATABASE_FILE, LOCK_FILE, requireDatabase } from './data-folder.ts'
import type { Engine } from './engine.ts'
import { InFlight } from './in-flight.ts'
import type { Away } from './reach.ts'
import { SqliteDriver } from './sqlite-driver.ts'
import { createFile, holdDataFolder } from './sqlite-files.ts'
import { watchPresence } from './sqlite-presence.ts'
import { busy, sqliteCode, sqliteError } from './unavailable.ts'

/** How long opening waits for other processes that open the same store, in milliseconds. */
const openingPatience = 5_000

/**
 * SQLite's own wait for another process, in milliseconds. It stops the event loop: short where
 * we go on trying by ourselves; longer where a read would fail, which next to never waits.
 */
const busyTimeout = { writing: 5, reading: 1_000 } as const

/**
 * How much of the file the reading connection keeps in memory at most, in KiB. With SQLite's own 2 MiB
 * a document of a million is read from the file page by page, and takes a quarter longer than one of a
 * thousand.
 */
const readCache = 32 * 1024

const RESTART =
  'Its database file was deleted, moved or replaced: put it back, or restore a backup and restart the node.'

/**
 * Opens `gatehouse.sqlite` in the data folder, and makes both where they are missing.
 *
 * @param onReach called when the files of the database are deleted, moved or replaced (role `node`
 * only), and with undefined when they are back.
 * @throws Failure `conflict` when another node runs on the folder (role `node` only);
 * `unavailable` when folder or file cannot be used, or when the folder holds keys and no database.
 */
export async function openSqlite(
  data: string,
  role: 'node' | 'tool',
  onReach: (away: Away | undefined) => void,
): Promise<Engine> {
  const opened: (() => void)[] = []
  const closeAll = () => {
    for (const close of opened.splice(0)) close()
  }
  try {
    requireDatabase(data)
    if (role === 'node') opened.unshift(holdDataFolder(data))
    const path = createFile(data, DATABASE_FILE)
    const writer = new DatabaseSync(path, { timeout: busyTimeout.writing })
    opened.unshift(() => writer.close())
    await enableWal(writer)
    writer.exec('pragma synchronous = full')
    writer.exec('pragma foreign_keys = on')
    const reader = new DatabaseSync(path, { readOnly: true, timeout: busyTimeout.reading })
    reader.exec(`pragma cache_size = -${readCache}`)
    // Closed before the writer: the last to close tidies the log away, and this one cannot.
    opened.unshift(() => reader.close())
    const watchFiles = (changed: (missing: string | undefined) => void) => {
      if (role === 'node') {
        const files = [path, `${path}-wal`, `${path}-shm`, join(data, LOCK_FILE)]
        opened.unshift(watchPresence(files, changed))
      }
    }
    return engineOf({ writer, reader, path, watchFiles, onReach, closeAll })
  } catch (error) {
    closeAll()
    throw explain(error, data)
  }
}

/** What {@link engineOf} is made of. */
interface Opened {
  readonly writer: DatabaseSync
  readonly reader: DatabaseSync
  /** The file of the database. */
  readonly path: string
  /** Calls back when a file of the database is missing, and with undefined when none is. */
  readonly watchFiles: (changed: (missing: string | undefined) => void) => void
  readonly onReach: (away: Away | undefined) => void
  readonly closeAll: () => void
}

function engineOf({ writer, reader, path, watchFiles, onReach, closeAll }: Opened): Engine {
  const inFlight = new InFlight()
  let writeFailed: (failure: unknown) => void = () => {}
  let away: Away | undefined
  const filesChanged = (missing: string | undefined) => {
    const reason = `${missing} was deleted, moved or replaced`
    away = missing === undefined ? undefined : { since: Date.now(), reason, advice: RESTART }
    inFlight.refuse(away && new Failure('unavailable', `The store is unavailable. ${RESTART}`))
    onReach(away)
  }
  const driver = new SqliteDriver({
    writer,
    reader,
    inFlight,
    onWriteFailure: (failure) => writeFailed(failure),
  })
  const dialect: Dialect = {
    createAdapter: () => new GroupingAdapter(),
    createDriver: () => driver,
    createIntrospector: (db) => new SqliteIntrospector(db),
    createQueryCompiler: () => new SqliteQueryCompiler(),
  }
  // Moves with every commit of another connection, never with this one's own.
  const pragma = writer.prepare('pragma data_version')
  const version = () => {
    try {
      return pragma.get()?.data_version
    } catch (error) {
      throw sqliteError(error)
    }
  }
  let seen = version()
  return {
    name: 'sqlite',
    dialect,
    execute: (query) => driver.execute(query),
    readAtOnce: (query) => driver.readAtOnce(query),
    async watch() {
      seen = version()
      watchFiles(filesChanged)
    },
    hold: async () => true,
    onWriteFailure(callback) {
      writeFailed = callback
    },
    looksFull: () => looksFull(path),
    away: () => away,
    changedOutside() {
      if (!writer.isOpen) return false
      const now = version()
      if (now === seen) return false
      seen = now
      driver.lookAgain()
      return true
    },
    async close() {
      await inFlight.close()
      closeAll()
    },
  }
}

/** Free space below which the next change may fail, bytes. */
const LITTLE_SPACE = 1024 * 1024

/** Returns whether the disk of a file has little space left, or the file cannot be written. */
async function looksFull(path: string): Promise<boolean> {
  try {
    const { bavail, bsize } = await statfs(path)
    await access(path, constants.W_OK)
    return bavail * bsize < LITTLE_SPACE
  } catch {
    return true
  }
}

/** Fails, even at once and whatever the timeout, while another process does the same. */
async function enableWal(db: DatabaseSync): Promise<void> {
  const deadline = performance.now() + openingPatience
  for (;;) {
    try {
      db.exec('pragma journal_mode = wal')
      return
    } catch (error) {
      if (sqliteCode(error) !== busy || performance.now() >= deadline) throw error
    }
    await pause(10)
  }
}

function explain(error: unknown, data: string): unknown {
  const unavailable = (message: string) => new Failure('unavailable', message, { cause: error })
  switch (systemCode(error)) {
    case 'EACCES':
    case 'EPERM':
      return unavailable(`The data folder ${data} cannot be written: permission denied.`)
    case 'EROFS':
      return unavailable(`The data folder ${data} is on a read-only file system.`)
    case 'ENOSPC':
      return unavailable(`The disk of the data folder ${data} is full.`)
    case 'EEXIST':
    case 'ENOTDIR':
      return unavailable(`The data folder ${data} is not a folder.`)
    case 'ERR_SQLITE_ERROR': {
      const { message } = sqliteError(error) as Error
      return unavailable(`The store in the data folder ${data} cannot be opened. ${message}`)
    }
    default:
      return error
  }
}

class GroupingAdapter extends SqliteAdapter {
  // Otherwise Kysely lets one query in at a time, until it is answered: no group, ever.
  override get supportsMultipleConnections(): boolean {
    return true
  }

  // Has the migrator run in one transaction, which begins as IMMEDIATE: that is its lock.
  override get supportsTransactionalDdl(): boolean {
    return true
  }
}
