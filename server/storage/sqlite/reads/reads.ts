import type { DatabaseSync } from 'node:sqlite'
import type { CompiledQuery, QueryResult } from 'kysely'
import { sqliteError } from '../../availability/unavailable.ts'
import { SqliteStatements } from '../statements.ts'
import { areTextParameters, MAX_ROW_BYTES, QueryCache, textOf } from './query-cache.ts'
import { ReadSnapshot } from './read-snapshot.ts'

/**
 * Reads committed data on a separate connection. The writing connection would also see uncommitted
 * changes. All methods throw errors as converted by `sqliteError`.
 */
export class SqliteReads {
  readonly #statements: SqliteStatements
  readonly #snapshot: ReadSnapshot
  readonly #cache = new QueryCache()

  constructor(reader: DatabaseSync) {
    this.#statements = new SqliteStatements(reader)
    this.#snapshot = new ReadSnapshot(reader)
  }

  /** Runs a query without the cache. */
  execute<R>(query: CompiledQuery): QueryResult<R> {
    try {
      this.#snapshot.begin()
      return this.#statements.execute<R>(query)
    } catch (error) {
      throw sqliteError(error)
    }
  }

  /** Runs a query, or returns its cached result. Rows may be shared and frozen. */
  cached<R>(query: CompiledQuery<R>): QueryResult<R> {
    const { sql, parameters } = query
    if (!areTextParameters(parameters)) return this.#cachedRow(query)
    const cached = this.#cache.get(this.version(), sql, parameters)
    if (cached !== undefined) return cached as QueryResult<R>
    const found = this.execute<R>(query)
    this.#cache.set(sql, parameters, found)
    return found
  }

  /** Runs a query with parameters of other types. Only single rows are cached. */
  #cachedRow<R>(query: CompiledQuery<R>): QueryResult<R> {
    const { sql, parameters } = query
    const key = [textOf(parameters)]
    const cached = this.#cache.get(this.version(), sql, key)
    if (cached !== undefined) return cached as QueryResult<R>
    const found = this.execute<R>(query)
    if (found.rows.length === 1) this.#cache.set(sql, key, found, MAX_ROW_BYTES)
    return found
  }

  /** Ends the snapshot, so that the next read sees all commits. */
  refresh(): void {
    this.#snapshot.end()
  }

  /** Returns the version of the store that reads of this turn see; it changes with each commit. */
  version(): unknown {
    try {
      return this.#snapshot.begin()
    } catch (error) {
      throw sqliteError(error)
    }
  }
}
