import type { DatabaseSync } from 'node:sqlite'
import type { CompiledQuery, DatabaseConnection, Driver, QueryResult } from 'kysely'
import type { InFlight } from '../../concurrency/in-flight.ts'
import type { RunStatement } from '../engine.ts'
import { GroupCommit, type Unit } from './group-commit/group-commit.ts'
import { SqliteReads } from './reads.ts'
import { SqliteStatements } from './statements.ts'

/** The caller that opened the connections closes them. */
export interface SqliteDriverConfig {
  readonly writer: DatabaseSync
  readonly reader: DatabaseSync
  readonly inFlight: InFlight
  /** Called with the failure of changes that SQLite rolled back. */
  readonly onWriteFailure: (failure: unknown) => void
  readonly onCommit: () => void
}

/**
 * Kysely driver for the two SQLite connections. Each connection that Kysely acquires is a small
 * object whose only state is its transaction. {@link GroupCommit} orders the writes.
 */
export class SqliteDriver implements Driver {
  readonly #inFlight: InFlight
  readonly #commits: GroupCommit
  readonly #writing: SqliteStatements
  readonly #reads: SqliteReads

  constructor({ writer, reader, inFlight, onWriteFailure, onCommit }: SqliteDriverConfig) {
    this.#inFlight = inFlight
    this.#reads = new SqliteReads(reader)
    this.#commits = new GroupCommit(writer, {
      onCommit: () => {
        this.#reads.refresh()
        onCommit()
      },
      onFailure: onWriteFailure,
    })
    this.#writing = new SqliteStatements(writer)
  }

  /** See `Engine.execute`. */
  async execute<R>(query: CompiledQuery<R>): Promise<QueryResult<R>> {
    this.#inFlight.enter()
    try {
      if (isReadOnly(query)) return this.#reads.cached(query)
      return await this.#commits.write(() => this.#writing.execute<R>(query))
    } finally {
      this.#inFlight.leave()
    }
  }

  /** See `Engine.atomically`. */
  async atomically<T>(work: (run: RunStatement) => T): Promise<T> {
    this.#inFlight.enter()
    try {
      return await this.#commits.writeAll(() => work((query) => this.#writing.execute(query)))
    } finally {
      this.#inFlight.leave()
    }
  }

  /** See {@link SqliteReads.version}. */
  version(): unknown {
    return this.#reads.version()
  }

  /** See `Engine.read`. */
  read<R>(query: CompiledQuery<R>): QueryResult<R> {
    this.#inFlight.enter()
    try {
      return this.#reads.cached(query)
    } finally {
      this.#inFlight.leave()
    }
  }

  /** Ends the read snapshot, so that the next read sees the commits of other processes. */
  refresh(): void {
    this.#reads.refresh()
  }

  async init(): Promise<void> {}

  async acquireConnection(): Promise<SqliteConnection> {
    this.#inFlight.enter()
    return new SqliteConnection(this.#commits, this.#writing, this.#reads)
  }

  async beginTransaction(connection: SqliteConnection): Promise<void> {
    connection.unit = await this.#commits.begin()
  }

  async commitTransaction(connection: SqliteConnection): Promise<void> {
    if (connection.unit === undefined) throw new Error('no transaction to commit')
    // Not reset if this throws, because Kysely then requests a rollback.
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
  readonly #reads: SqliteReads
  unit: Unit | undefined

  constructor(commits: GroupCommit, writing: SqliteStatements, reads: SqliteReads) {
    this.#commits = commits
    this.#writing = writing
    this.#reads = reads
  }

  async executeQuery<R>(query: CompiledQuery): Promise<QueryResult<R>> {
    const { unit } = this
    if (unit !== undefined) {
      return this.#commits.run(unit, () => this.#writing.execute<R>(query))
    }
    if (!isReadOnly(query)) {
      return this.#commits.write(() => this.#writing.execute<R>(query))
    }
    return this.#reads.execute<R>(query)
  }

  // biome-ignore lint/correctness/useYield: it only throws
  async *streamQuery(): AsyncIterableIterator<never> {
    throw new Error('streams are not supported; read in pages')
  }
}

function isReadOnly({ query, sql }: CompiledQuery): boolean {
  return query.kind === 'SelectQueryNode' || /^\s*(select|values|explain)\b/i.test(sql)
}
