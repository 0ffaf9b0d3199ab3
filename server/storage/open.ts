import { type CompiledQuery, Kysely, type QueryResult } from 'kysely'
import type { Engine, EngineName, NoticeTopic } from './engine.ts'
import { migrate } from './migrate.ts'
import { allMigrations } from './migrations/all-migrations.ts'
import { openPostgres } from './postgres.ts'
import { openSqlite } from './sqlite.ts'
import type { Tables } from './tables.ts'

/** An open store, ready for queries. */
export interface Store {
  readonly engine: EngineName
  /** Queries that are refused after {@link close}, or that find no store, throw `unavailable`. */
  readonly db: Kysely<Tables>
  /**
   * A query of the hot path, compiled once, to be run with other parameters: for these, building the
   * query and Kysely's way to the driver cost more than the database. Each run stands alone, outside
   * of transactions; otherwise as by {@link db}.
   */
  prepare<R>(query: CompiledQuery<R>): (...parameters: unknown[]) => Promise<QueryResult<R>>
  /**
   * True once after another process (a command-line tool, another node) has changed the store
   * since the last call. Costs about a microsecond: meant to be asked at each request. With
   * PostgreSQL it is true some milliseconds later, and this process's own changes count too.
   */
  changedOutside(): boolean
  /**
   * Calls back whenever another node (or this one) has changed what this one remembers, with what is
   * to be looked at again; SQLite, which one node has alone, never does. Returns the unsubscribe.
   */
  onNotice(callback: (topic: NoticeTopic) => void): () => void
  /**
   * Takes a name for this node, for as long as it is connected to the store: of all that ask, one
   * gets it, and when that one ends, the next who asks. Always true on SQLite.
   *
   * @throws Failure `unavailable`
   */
  hold(name: string): Promise<boolean>
  /** Stops accepting work, finishes what is under way, closes. Again: the same promise. */
  close(): Promise<void>
}

/** Where the store is: SQLite in a folder of this machine, or a PostgreSQL. */
export type StoreLocation = { readonly data: string } | { readonly databaseUrl: string }

/**
 * Opens the store in its newest form; the only place that chooses the engine. A `node` holds its
 * data folder alone; a `tool` (a command beside a running node) does not.
 *
 * @throws Failure `conflict` when another node runs on the data folder, or a newer Gatehouse has
 * changed the store; `unavailable` when there is no getting at it.
 */
export async function openStore(location: StoreLocation, role: 'node' | 'tool'): Promise<Store> {
  const engine: Engine =
    'data' in location
      ? await openSqlite(location.data, role)
      : await openPostgres(location.databaseUrl, role)
  const db = new Kysely<Tables>({ dialect: engine.dialect })
  const listeners = new Set<(topic: NoticeTopic) => void>()
  try {
    await migrate(db, allMigrations(engine.name))
    // Only now: what this very start has migrated is nobody else's change.
    await engine.watch((topic) => {
      for (const listener of listeners) listener(topic)
    })
  } catch (error) {
    await engine.close()
    throw error
  }
  const execute = engine.execute ?? (<R>(query: CompiledQuery<R>) => db.executeQuery(query))
  let closing: Promise<void> | undefined
  return {
    engine: engine.name,
    db,
    prepare:
      ({ query, sql, queryId }) =>
      (...parameters) =>
        execute({ query, sql, queryId, parameters }),
    changedOutside: () => engine.changedOutside(),
    onNotice(callback) {
      listeners.add(callback)
      return () => listeners.delete(callback)
    },
    hold: (name) => engine.hold(name),
    close() {
      closing ??= engine.close()
      return closing
    },
  }
}
