import { type CompiledQuery, Kysely, type QueryResult } from 'kysely'
import type { Engine, EngineName } from './engine.ts'
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
   * PostgreSQL it lags by up to a second, and this process's own changes count too.
   */
  changedOutside(): boolean
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
      : await openPostgres(location.databaseUrl)
  const db = new Kysely<Tables>({ dialect: engine.dialect })
  try {
    await migrate(db, allMigrations(engine.name))
    // Only now: what this very start has migrated is nobody else's change.
    await engine.watch()
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
    close() {
      closing ??= engine.close()
      return closing
    },
  }
}
