import type { DatabaseSync } from 'node:sqlite'
import type { CompiledQuery, DatabaseConnection, Driver, QueryResult } from 'kysely'
import { GroupCommit, type Unit } from './group-commit.ts'
import type { InFlight } from './in-flight.ts'
import { ReadSnapshot } from './read-snapshot.ts'
import { keyOf, RememberedAnswers } from './remembered-answers.ts'
import { SqliteStatements } from './sqlite-statements.ts'
import { sqliteError } from './unavailable.ts'

/** What the driver works with; whoever opened the connections closes them. */
export interface SqliteDriverConfig {
  readonly writer: DatabaseSync
  readonly reader: DatabaseSync
  readonly inFlight: InFlight
}

/**
 * Kysely's view of the two connections. Each "connection" that Kysely acquires is a small object
 * with no state but its transaction; the order of the writes is kept by {@link GroupCommit}.
 */
export class SqliteDriver implements Driver {
  readonly #inFlight: InFlight
  readonly #commits: GroupCommit
  readonly #writing: SqliteStatements
  readonly #reading: SqliteStatements
  readonly #snapshot: ReadSnapshot
  readonly #remembered = new RememberedAnswers()
  /** Never in a transaction. */
  readonly #plain: SqliteConnection

  constructor({ writer, reader, inFlight }: SqliteDriverConfig) {
    this.#inFlight = inFlight
    this.#snapshot = new ReadSnapshot(reader)
    this.#commits = new GroupCommit(writer, { committed: () => this.#snapshot.end() })
    this.#writing = new SqliteStatements(writer)
    this.#reading = new SqliteStatements(reader)
    this.#plain = this.#connect()
  }

  /** See `Engine.execute`. */
  async execute<R>(query: CompiledQuery<R>): Promise<QueryResult<R>> {
    this.#inFlight.enter()
    try {
      if (onlyReads(query)) return this.#read<R>(query)
      return await this.#plain.executeQuery<R>(query)
    } finally {
      this.#inFlight.leave()
    }
  }

  #read<R>(query: CompiledQuery<R>): QueryResult<R> {
    const key = keyOf(query)
    try {
      const version = this.#snapshot.begin()
      if (key === undefined) return this.#reading.execute<R>(query)
      const known = this.#remembered.find(version, key)
      if (known !== undefined) return known as QueryResult<R>
      const found = this.#reading.execute<R>(query)
      this.#remembered.keep(key, found)
      return found
    } catch (error) {
      throw sqliteError(error)
    }
  }

  /** Has the next read see what another process has committed by now. */
  lookAgain(): void {
    this.#snapshot.end()
  }

  async init(): Promise<void> {}

  async acquireConnection(): Promise<SqliteConnection> {
    this.#inFlight.enter()
    return this.#connect()
  }

  #connect(): SqliteConnection {
    return new SqliteConnection(this.#commits, this.#writing, this.#reading, this.#snapshot)
  }

  async beginTransaction(connection: SqliteConnection): Promise<void> {
    connection.unit = await this.#commits.begin()
  }

  async commitTransaction(connection: SqliteConnection): Promise<void> {
    if (connection.unit === undefined) throw new Error('no transaction to commit')
    // Kept when this throws: Kysely then asks for a rollback.
    await this.#commits.commit(connection.unit)
    connection.unit = undefined
  }

  async rollbackTransaction(connection: SqliteConnection): Promise<void> {
    const { unit } = connection
    connection.unit = undefined
    if (unit !== undefined) await this.#commits.rollback(unit)
  }

  async releaseConnection(_connection: SqliteConnection): Promise<void> {
    this.#inFlight.leave()
  }

  async destroy(): Promise<void> {}
}

class SqliteConnection implements DatabaseConnection {
  readonly #commits: GroupCommit
  readonly #writing: SqliteStatements
  readonly #reading: SqliteStatements
  readonly #snapshot: ReadSnapshot
  unit: Unit | undefined

  constructor(
    commits: GroupCommit,
    writing: SqliteStatements,
    reading: SqliteStatements,
    snapshot: ReadSnapshot,
  ) {
    this.#commits = commits
    this.#writing = writing
    this.#reading = reading
    this.#snapshot = snapshot
  }

  async executeQuery<R>(query: CompiledQuery): Promise<QueryResult<R>> {
    const { unit } = this
    if (unit !== undefined) {
      return this.#commits.run(unit, () => this.#writing.execute<R>(query))
    }
    if (!onlyReads(query)) {
      return this.#commits.write(() => this.#writing.execute<R>(query))
    }
    try {
      this.#snapshot.begin()
      // On the writing connection it would see what is not committed yet.
      return this.#reading.execute<R>(query)
    } catch (error) {
      throw sqliteError(error)
    }
  }

  // biome-ignore lint/correctness/useYield: PostgreSQL would need one more package for it.
  async *streamQuery(): AsyncIterableIterator<never> {
    throw new Error('streams are not supported on either engine: read in pages')
  }
}

function onlyReads({ query, sql }: CompiledQuery): boolean {
  return query.kind === 'SelectQueryNode' || /^\s*(select|values|explain)\b/i.test(sql)
}
