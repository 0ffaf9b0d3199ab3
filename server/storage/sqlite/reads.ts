import type { DatabaseSync, StatementSync } from 'node:sqlite'
import type { CompiledQuery, QueryResult } from 'kysely'
import { sqliteError } from '../availability/unavailable.ts'
import { SqliteStatements } from './statements.ts'

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

/**
 * One read transaction for all reads in a turn of the event loop. Separate reads would lock and
 * unlock the log each time (two system calls), which takes as long as the lookup of a document.
 *
 * The transaction ends with the turn, with each commit of this process, and with each detected
 * commit of another process. A request that begins after a change therefore reads it.
 */
export class ReadSnapshot {
  readonly #reader: DatabaseSync
  readonly #begin: StatementSync
  readonly #commit: StatementSync
  readonly #readVersion: StatementSync
  #open = false
  #version: unknown

  /** @param reader a connection that is only used for reads. */
  constructor(reader: DatabaseSync) {
    this.#reader = reader
    this.#begin = reader.prepare('begin')
    this.#commit = reader.prepare('commit')
    // Changes with each commit of any other connection.
    this.#readVersion = reader.prepare('pragma data_version')
  }

  /**
   * Call this before each read. Returns the version of the store that is read, which changes with
   * each commit.
   *
   * @throws the error of SQLite if the file cannot be read. The next call tries again.
   */
  begin(): unknown {
    if (this.#open) return this.#version
    // An earlier transaction may still be open because its COMMIT failed.
    if (this.#reader.isTransaction) this.#reader.exec('rollback')
    this.#begin.run()
    this.#open = true
    setImmediate(() => this.end())
    // If the query fails, the reads of this turn have no known version and are not cached.
    this.#version = undefined
    this.#version = this.#readVersion.get()?.data_version
    return this.#version
  }

  /**
   * Ends the snapshot, so that the next read sees all commits. Never throws: it runs in
   * `setImmediate`, where an error would end the process.
   */
  end(): void {
    if (!this.#open) return
    this.#open = false
    // The connection was closed in the same turn, which ended the transaction.
    if (!this.#reader.isOpen) return
    try {
      this.#commit.run()
    } catch {
      // COMMIT also fails after a failed read (SQLITE_CORRUPT, SQLITE_IOERR).
      this.#rollBack()
    }
  }

  #rollBack(): void {
    try {
      if (this.#reader.isTransaction) this.#reader.exec('rollback')
    } catch {
      // `begin` tries again.
    }
  }
}

/** Approximate size limits of one cached result and of the whole cache, bytes. */
const MAX_BYTES = { one: 64 * 1024, all: 16 * 1024 * 1024 } as const

/**
 * Approximate size limit of the cached row of a query by an index, bytes: a page of ten short
 * documents. Larger pages would displace the documents, and are cheaper to read than to keep.
 */
export const MAX_ROW_BYTES = 8 * 1024

/** Approximate overhead of a cache entry, bytes. */
const ENTRY_OVERHEAD = 256

/**
 * Results of a statement in nested maps, one level per parameter. A combined key would have to be
 * built for each lookup, and could be ambiguous.
 */
type Results = Map<string, Results | QueryResult<unknown>>

/**
 * Caches query results until the next change to the store, so that concurrent reads of a document
 * query it once. When the size limit is reached, the cache is cleared. See
 * docs/decisions/0015-query-cache.md.
 */
export class QueryCache {
  /** By SQL text. */
  readonly #results: Results = new Map()
  #version: unknown
  #size = 0

  /**
   * Returns the result of a query if it was cached for this version of the store.
   *
   * @param version changes with each commit.
   */
  get(version: unknown, sql: string, parameters: TextParameters): QueryResult<unknown> | undefined {
    if (version !== this.#version) this.#clear(version)
    let results = this.#results.get(sql)
    for (const parameter of parameters) results = (results as Results | undefined)?.get(parameter)
    return results as QueryResult<unknown> | undefined
  }

  /** Caches a result for the version last passed to {@link get}, and freezes its rows. */
  set(
    sql: string,
    parameters: TextParameters,
    answer: QueryResult<unknown>,
    maxBytes: number = MAX_BYTES.one,
  ): void {
    if (this.#version === undefined) return
    const size = ENTRY_OVERHEAD + parameters.join().length + answer.rows.reduce<number>(sizeOf, 0)
    if (size > maxBytes) return
    if (this.#size + size > MAX_BYTES.all) this.#clear(this.#version)
    this.#size += size
    for (const row of answer.rows) Object.freeze(row)
    let results = this.#results
    let step = sql
    for (const parameter of parameters) {
      const next = (results.get(step) as Results | undefined) ?? new Map()
      results.set(step, next)
      results = next
      step = parameter
    }
    results.set(step, answer)
  }

  #clear(version: unknown): void {
    this.#version = version
    this.#size = 0
    // Clearing an empty map is not free, and under frequent writes the map is nearly always empty.
    if (this.#results.size > 0) this.#results.clear()
  }
}

/** Parameters of a query whose result can be cached. */
export type TextParameters = readonly string[]

/** Returns whether all parameters are strings. The number of parameters is fixed per statement. */
export const areTextParameters = (parameters: readonly unknown[]): parameters is TextParameters =>
  parameters.every((parameter) => typeof parameter === 'string')

/** Returns a text that identifies parameters of any type. */
export const textOf = (parameters: readonly unknown[]): string =>
  parameters.map((parameter) => printed(parameter)).join()

function printed(parameter: unknown): string {
  if (typeof parameter === 'string') return `${parameter.length}:${parameter}`
  if (!(parameter instanceof Uint8Array)) return String(parameter)
  const { buffer, byteOffset, length } = parameter
  return `${length}b${Buffer.from(buffer, byteOffset, length).toString('latin1')}`
}

function sizeOf(sum: number, row: unknown): number {
  let size = sum
  for (const value of Object.values(row as object)) {
    size += typeof value === 'string' ? 2 * value.length : ENTRY_OVERHEAD
  }
  return size
}
