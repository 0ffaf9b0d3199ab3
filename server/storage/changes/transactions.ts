import { AsyncLocalStorage } from 'node:async_hooks'
import type { DatabaseConnection, Dialect, Kysely, Transaction } from 'kysely'
import type { Tables } from '../tables.ts'
import { rememberConnection } from './round-trips.ts'

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
