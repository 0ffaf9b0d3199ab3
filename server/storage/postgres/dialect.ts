import {
  type CompiledQuery,
  type Dialect,
  type Driver,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  type QueryResult,
} from 'kysely'
import type pg from 'pg'
import { otherWork } from '../../concurrency/turn-share.ts'
import type { TransactionConnection } from '../changes/transactions.ts'
import type { Engine } from '../engine.ts'
import type { Statement } from './connections/guarded-client.ts'
import type { GuardedPool, PooledClient } from './connections/guarded-pool.ts'

/**
 * Returns Kysely's dialect for a pool. Its transactions begin with their first statement and commit
 * with their last ones, in the same round trips.
 */
export const createPostgresDialect = (pool: GuardedPool): Dialect => ({
  createAdapter: () => new PostgresAdapter(),
  createDriver: () => new PostgresDriver(pool),
  createIntrospector: (db) => new PostgresIntrospector(db),
  createQueryCompiler: () => new PostgresQueryCompiler(),
})

/**
 * Waits for a migration, during which Kysely's migrator holds this lock. The lock is released with
 * the last statement of the round trip.
 */
const NO_MIGRATION: Statement = {
  text: 'select pg_advisory_xact_lock_shared(3853314791062309107)',
  values: [],
}

/** See `Engine.afterMigrations`. */
export const createAfterMigrations =
  (pool: GuardedPool): NonNullable<Engine['afterMigrations']> =>
  async <R>(query: CompiledQuery<R>) => {
    const client = pool.connect()
    try {
      // A statement of its own, because a statement reads the state at its beginning.
      const [, result] = await client.query(NO_MIGRATION, statementOf(query))
      return resultOf<R>(result)
    } finally {
      client.release()
    }
  }

class PostgresDriver implements Driver {
  readonly #pool: GuardedPool

  constructor(pool: GuardedPool) {
    this.#pool = pool
  }

  async init(): Promise<void> {}

  async acquireConnection(): Promise<PostgresConnection> {
    return new PostgresConnection(this.#pool.connect())
  }

  async beginTransaction(connection: PostgresConnection): Promise<void> {
    connection.begin()
  }

  async commitTransaction({ client }: PostgresConnection): Promise<void> {
    await client.commit()
  }

  async rollbackTransaction({ client }: PostgresConnection): Promise<void> {
    await client.rollback()
  }

  async releaseConnection({ client }: PostgresConnection): Promise<void> {
    client.release()
  }

  async destroy(): Promise<void> {}
}

class PostgresConnection implements TransactionConnection {
  readonly client: PooledClient
  #isTransaction = false

  constructor(client: PooledClient) {
    this.client = client
  }

  begin(): void {
    this.#isTransaction = true
    this.client.begin()
  }

  async executeQuery<R>(query: CompiledQuery): Promise<QueryResult<R>> {
    const [result] = await this.client.query(statementOf(query))
    // The results of all connections can arrive in one turn. A transaction holds locks, so it does
    // not wait.
    if (!this.#isTransaction) await otherWork.enter()
    return resultOf(result)
  }

  async executeAll(queries: readonly CompiledQuery[]): Promise<readonly QueryResult<unknown>[]> {
    const results = await this.client.query(...queries.map(statementOf))
    return results.map(resultOf)
  }

  hold(query: CompiledQuery): void {
    this.client.hold(statementOf(query))
  }

  // biome-ignore lint/correctness/useYield: it only throws
  async *streamQuery(): AsyncIterableIterator<never> {
    throw new Error('streams are not supported; read in pages')
  }
}

const statementOf = ({ sql: text, parameters: values }: CompiledQuery) => ({ text, values })

/** Commands that report the number of rows that they changed. */
const CHANGES: ReadonlySet<string | undefined> = new Set(['INSERT', 'UPDATE', 'DELETE', 'MERGE'])

function resultOf<R>(result: pg.QueryResult | undefined): QueryResult<R> {
  const { command, rowCount, rows = [] } = result ?? {}
  if (!CHANGES.has(command)) return { rows }
  return { rows, numAffectedRows: BigInt(rowCount ?? 0) }
}
