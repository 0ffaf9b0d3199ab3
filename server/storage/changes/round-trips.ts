import type { CompiledQuery, DatabaseConnection, QueryResult, Transaction } from 'kysely'
import type { Tables } from '../tables.ts'

/** A connection on which statements of a transaction share round trips. */
export interface TransactionConnection extends DatabaseConnection {
  /** Runs statements in order, in one round trip. */
  executeAll(queries: readonly CompiledQuery[]): Promise<readonly QueryResult<unknown>[]>
  /** Runs a statement in the round trip of the next one or of the commit. */
  hold(query: CompiledQuery): void
}

const connections = new WeakMap<Transaction<Tables>, TransactionConnection>()

/** Remembers the connection of a transaction, if its statements can share round trips. */
export function rememberConnection(
  trx: Transaction<Tables>,
  connection: DatabaseConnection | undefined,
): void {
  if (connection !== undefined && 'executeAll' in connection) {
    connections.set(trx, connection as TransactionConnection)
  }
}

/** Returns whether {@link executeLater} saves round trips, as on PostgreSQL. */
export const sharesRoundTrips = (trx: Transaction<Tables>): boolean => connections.has(trx)

/** The rows of each of several queries. */
type RowsOf<Queries extends readonly CompiledQuery<unknown>[]> = {
  [At in keyof Queries]: Queries[At] extends CompiledQuery<infer Row> ? Row[] : never
}

/** Runs statements of a transaction in order. On PostgreSQL, they share a round trip. */
export async function executeAll<const Queries extends readonly CompiledQuery<unknown>[]>(
  trx: Transaction<Tables>,
  ...queries: Queries
): Promise<RowsOf<Queries>> {
  const connection = connections.get(trx)
  const results: QueryResult<unknown>[] = []
  if (connection !== undefined) results.push(...(await connection.executeAll(queries)))
  else for (const query of queries) results.push(await trx.executeQuery(query))
  return results.map(({ rows }) => rows) as RowsOf<Queries>
}

/**
 * Runs a statement of a transaction whose result is not needed. On PostgreSQL, it is sent with the
 * next statement or the commit, which then fails if it fails.
 */
export async function executeLater(
  trx: Transaction<Tables>,
  query: CompiledQuery<unknown>,
): Promise<void> {
  const connection = connections.get(trx)
  if (connection === undefined) await trx.executeQuery(query)
  else connection.hold(query)
}
