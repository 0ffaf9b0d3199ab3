import { AsyncLocalStorage } from 'node:async_hooks'
import type {
  CompiledQuery,
  DatabaseConnection,
  Dialect,
  Kysely,
  QueryResult,
  Transaction,
} from 'kysely'
import type { Tables } from '../tables.ts'

/**
 * Queries outside of transactions. Only {@link RunTransaction} and {@link RunChange} open
 * transactions.
 */
export interface Queries extends Kysely<Tables> {
  readonly transaction: never
  readonly startTransaction: never
  readonly connection: never
}

/**
 * Runs the work in one transaction, and resolves once it is committed. The work must use `trx`
 * only. A query outside of the transaction throws, because it would wait for a second connection
 * while it holds one.
 *
 * @param length `long` for transactions with many or slow statements. On PostgreSQL, they can use
 * at most half of the connections.
 */
export type RunTransaction = <T>(
  work: (trx: Transaction<Tables>) => Promise<T>,
  length?: 'long',
) => Promise<T>

declare const change: unique symbol

/** A transaction that may take the locks that all nodes share. */
export type Change = Transaction<Tables> & { readonly [change]: true }

/**
 * Runs a short change of anything but documents in one transaction, like {@link RunTransaction}.
 * Such changes lock rows that all nodes share: the revision and the head of the audit log. With
 * PostgreSQL, a node runs these changes one at a time, so a suspended process has at most one
 * connection that holds these locks or waits for them.
 */
export type RunChange = <T>(work: (trx: Change) => Promise<T>) => Promise<T>

/** State of the transaction whose code is running. */
interface Running {
  state: 'begins' | 'open' | 'ended'
  connection?: DatabaseConnection
}

/** Runs transactions, and rejects queries from inside a transaction that do not use it. */
export class Transactions {
  readonly #running = new AsyncLocalStorage<Running>()

  /** Returns the dialect with a check before each connection that Kysely acquires. */
  guard(dialect: Dialect): Dialect {
    return {
      createAdapter: () => dialect.createAdapter(),
      createDriver: () => {
        const driver = dialect.createDriver()
        const acquire = driver.acquireConnection.bind(driver)
        driver.acquireConnection = async (options) => {
          const running = this.#enter()
          const connection = await acquire(options)
          if (running !== undefined) running.connection = connection
          return connection
        }
        return driver
      },
      createIntrospector: (db) => dialect.createIntrospector(db),
      createQueryCompiler: () => dialect.createQueryCompiler(),
    }
  }

  /** @throws Error if called inside a transaction. */
  requireOutside(): void {
    if (this.#running.getStore()?.state === 'open') {
      throw new Error('A query bypassed the open transaction; use its `trx`.')
    }
  }

  async run<T>(db: Kysely<Tables>, work: (trx: Transaction<Tables>) => Promise<T>): Promise<T> {
    this.requireOutside()
    const running: Running = { state: 'begins' }
    try {
      return await this.#running.run(running, () =>
        db.transaction().execute((trx) => {
          rememberConnection(trx, running.connection)
          return work(trx)
        }),
      )
    } finally {
      // Code that the work started and did not await, such as a background loop, is outside now.
      running.state = 'ended'
    }
  }

  /**
   * Allows the first acquired connection, which is the transaction's own, and rejects later ones.
   * Returns the transaction that the connection is for.
   */
  #enter(): Running | undefined {
    this.requireOutside()
    const running = this.#running.getStore()
    if (running?.state !== 'begins') return undefined
    running.state = 'open'
    return running
  }
}

/** A connection on which statements of a transaction share round trips. */
export interface TransactionConnection extends DatabaseConnection {
  /** Runs statements in order, in one round trip. */
  executeAll(queries: readonly CompiledQuery[]): Promise<readonly QueryResult<unknown>[]>
  /** Runs a statement in the round trip of the next one or of the commit. */
  hold(query: CompiledQuery): void
}

const connections = new WeakMap<Transaction<Tables>, TransactionConnection>()

/** Remembers the connection of a transaction, if its statements can share round trips. */
function rememberConnection(
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
