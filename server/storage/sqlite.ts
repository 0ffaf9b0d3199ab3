import { DatabaseSync } from 'node:sqlite'
import { setTimeout as pause } from 'node:timers/promises'
import { type Dialect, SqliteAdapter, SqliteIntrospector, SqliteQueryCompiler } from 'kysely'
import { Failure, systemCode } from '../failure.ts'
import type { Engine } from './engine.ts'
import { InFlight } from './in-flight.ts'
import { SqliteDriver } from './sqlite-driver.ts'
import { createFile, holdDataFolder } from './sqlite-files.ts'
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

/**
 * Opens `gatehouse.sqlite` in the data folder, and makes both where they are missing.
 *
 * @throws Failure `conflict` when another node runs on the folder (role `node` only);
 * `unavailable` when folder or file cannot be used.
 */
export async function openSqlite(data: string, role: 'node' | 'tool'): Promise<Engine> {
  const opened: (() => void)[] = []
  const closeAll = () => {
    for (const close of opened.splice(0)) close()
  }
  try {
    if (role === 'node') opened.unshift(holdDataFolder(data))
    const path = createFile(data, 'gatehouse.sqlite')
    const writer = new DatabaseSync(path, { timeout: busyTimeout.writing })
    opened.unshift(() => writer.close())
    await enableWal(writer)
    writer.exec('pragma synchronous = full')
    writer.exec('pragma foreign_keys = on')
    const reader = new DatabaseSync(path, { readOnly: true, timeout: busyTimeout.reading })
    reader.exec(`pragma cache_size = -${readCache}`)
    // Closed before the writer: the last to close tidies the log away, and this one cannot.
    opened.unshift(() => reader.close())
    return engineOf(writer, reader, closeAll)
  } catch (error) {
    closeAll()
    throw explain(error, data)
  }
}

function engineOf(writer: DatabaseSync, reader: DatabaseSync, closeFiles: () => void): Engine {
  const inFlight = new InFlight()
  const driver = new SqliteDriver({ writer, reader, inFlight })
  const dialect: Dialect = {
    createAdapter: () => new GroupingAdapter(),
    createDriver: () => driver,
    createIntrospector: (db) => new SqliteIntrospector(db),
    createQueryCompiler: () => new SqliteQueryCompiler(),
  }
  // Moves with every commit of another connection, never with this one's own.
  const pragma = writer.prepare('pragma data_version')
  const version = () => pragma.get()?.data_version
  let seen = version()
  return {
    name: 'sqlite',
    dialect,
    execute: (query) => driver.execute(query),
    readAtOnce: (query) => driver.readAtOnce(query),
    async watch() {
      seen = version()
    },
    hold: async () => true,
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
      closeFiles()
    },
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
