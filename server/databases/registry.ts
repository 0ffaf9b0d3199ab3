import { requireDatabaseName, SYSTEM_DATABASE } from '../contract/database.ts'
import type { LiveEvent } from '../contract/event.ts'
import { databaseNotFound, Failure } from '../failure.ts'
import type { Caller } from '../storage/changes/begin-change.ts'
import type { Recorder } from '../storage/changes/recorder.ts'
import type { Store } from '../storage/store.ts'
import {
  deleteDatabase,
  insertDatabase,
  readDatabases,
  type StoredDatabases,
} from './repository.ts'

/** The existing databases, kept in memory because every request checks them. */
export interface DatabaseRegistry {
  /** Returns whether a database exists; `_system` always does. */
  has(name: string): boolean
  /**
   * Returns the id under which a database's documents are stored.
   *
   * @throws Failure `database-not-found`
   */
  idOf(name: string): string
  /** Returns all names: `_system` first, then by code point. */
  list(): string[]
  /**
   * Creates a database, durably.
   *
   * @throws Failure `bad-database-name`, `database-exists` or `unavailable`.
   */
  create(name: string, actor: Caller): Promise<void>
  /**
   * Drops a database, durably. Requests for it then get `database-not-found`.
   *
   * @throws Failure `forbidden` for `_system`, `database-not-found` or `unavailable`.
   */
  drop(name: string, actor: Caller): Promise<void>
  /** Reloads the stored databases after another process changed them. Returns the revision read. */
  sync(): Promise<number>
}

/** Opens the registry of the stored databases. Every change is audited. */
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
      if (id === undefined) throw databaseNotFound()
      return id
    },
    list: () => [SYSTEM_DATABASE, ...[...ids.keys()].sort()],
    async create(name, actor) {
      requireDatabaseName(name, '/name')
      const inserted =
        name === SYSTEM_DATABASE
          ? undefined
          : await insertDatabase(store, name, Date.now(), { record, actor })
      if (inserted === undefined)
        throw new Failure('database-exists', `The database ${name} already exists.`, {
          field: '/name',
        })
      changes++
      // A sync may have read this change, or later ones, before it resolved.
      if (inserted.revision > syncedTo) ids.set(name, inserted.id)
      publish({ type: 'database', name })
    },
    async drop(name, actor) {
      if (name === SYSTEM_DATABASE) {
        throw new Failure(
          'forbidden',
          'The database _system contains the administration and cannot be dropped.',
        )
      }
      const revision = await deleteDatabase(store, name, { record, actor })
      if (revision === undefined) throw databaseNotFound()
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
        // A local change during the read may be missing from the result.
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
