import type { Actor } from '../contract/audit.ts'
import { DATABASE_NAME_RULE, isDatabaseName, SYSTEM_DATABASE } from '../contract/database.ts'
import type { LiveEvent } from '../contract/event.ts'
import { Failure } from '../failure.ts'
import type { Store } from '../storage/open.ts'
import type { Recorder } from '../storage/recorder.ts'
import {
  deleteDatabase,
  insertDatabase,
  readDatabases,
  type StoredDatabases,
} from './repository.ts'

/** Which databases exist. Kept in memory, since every request asks. */
export interface DatabaseRegistry {
  /** Whether a database exists; `_system` always does. */
  has(name: string): boolean
  /** By which the documents of a database that exists are found. */
  idOf(name: string): string
  /** All names: `_system` first, then by code point. */
  list(): string[]
  /**
   * Creates a database, durably.
   *
   * @throws Failure `bad-database-name`, `database-exists` or `unavailable`.
   */
  create(name: string, actor: Actor): Promise<void>
  /**
   * Drops a database, durably; requests for it find nothing from then on.
   *
   * @throws Failure `forbidden` for `_system`, `database-not-found` or `unavailable`.
   */
  drop(name: string, actor: Actor): Promise<void>
  /** Reads what is stored, after another process has changed it; returns the revision that was read. */
  sync(): Promise<number>
}

/** Makes a {@link DatabaseRegistry} of what is stored; each change is put on record. */
export async function createDatabaseRegistry(
  store: Store,
  publish: (event: LiveEvent) => void,
  record: Recorder,
): Promise<DatabaseRegistry> {
  let { ids, revision: syncedTo } = await readDatabases(store)
  let changes = 0
  const registry: DatabaseRegistry = {
    has: (name) => name === SYSTEM_DATABASE || ids.has(name),
    idOf(name) {
      const id = name === SYSTEM_DATABASE ? SYSTEM_DATABASE : ids.get(name)
      if (id === undefined) throw new Failure('database-not-found', 'database not found')
      return id
    },
    list: () => [SYSTEM_DATABASE, ...[...ids.keys()].sort()],
    async create(name, actor) {
      if (!isDatabaseName(name)) {
        const shown = JSON.stringify(name.slice(0, 64))
        throw new Failure(
          'bad-database-name',
          `${shown} is no database name. ${DATABASE_NAME_RULE}`,
        )
      }
      const inserted =
        name === SYSTEM_DATABASE
          ? undefined
          : await insertDatabase(store, name, Date.now(), { record, actor })
      if (inserted === undefined)
        throw new Failure('database-exists', `There is a database ${name} already.`)
      changes++
      // A sync may have read this change and later ones before the answer came.
      if (inserted.revision > syncedTo) ids.set(name, inserted.id)
      publish({ type: 'database', name })
    },
    async drop(name, actor) {
      if (name === SYSTEM_DATABASE) {
        throw new Failure('forbidden', 'The database _system holds the administration and stays.')
      }
      const revision = await deleteDatabase(store, name, { record, actor })
      if (revision === undefined) throw new Failure('database-not-found', 'database not found')
      changes++
      if (revision > syncedTo) ids.delete(name)
      publish({ type: 'database', name })
    },
    async sync() {
      let seen: number
      let read: StoredDatabases
      do {
        seen = changes
        read = await readDatabases(store)
        // A change of our own while we read may be missing from what was read.
      } while (seen !== changes)
      const before = ids
      ids = read.ids
      syncedTo = read.revision
      const names = new Set([...before.keys(), ...ids.keys()])
      const different = [...names].filter((name) => before.get(name) !== ids.get(name))
      for (const name of different) publish({ type: 'database', name })
      return read.revision
    },
  }
  return registry
}
