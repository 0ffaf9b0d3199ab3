import { AsyncLocalStorage } from 'node:async_hooks'
import type { Dialect, Kysely, Transaction } from 'kysely'
import type { Tables } from './tables.ts'

/** Queries outside of transactions. Only {@link RunTransaction} opens one. */
export interface Queries extends Kysely<Tables> {
  readonly transaction: never
  readonly startTransaction: never
  readonly connection: never
}

/**
 * Runs the work in one transaction, and resolves once it is committed. The work uses `trx` alone: a
 * query outside of the transaction would wait for a connection while it holds one, and throws.
 *
 * @param length `long`: many statements, or some that take long. On PostgreSQL, half of the connections
 * are never used by these.
 */
export type RunTransaction = <T>(
  work: (trx: Transaction<Tables>) => Promise<T>,
  length?: 'long',
) => Promise<T>

declare const change: unique symbol

/** A transaction that may take the locks that all nodes of a store share. */
export type Change = Transaction<Tables> & { readonly [change]: true }

/**
 * Runs a short change of anything but documents in one transaction, as {@link RunTransaction} does.
 * Such changes take locks that all nodes share: of the revision, of the head of the audit log. With
 * PostgreSQL a node makes them one at a time, so a process that is suspended has one connection at
 * most that holds these locks or waits for them.
 */
export type RunChange = <T>(work: (trx: Change) => Promise<T>) => Promise<T>

/** The transaction whose code is running. */
interface Running {
  state: 'begins' | 'open' | 'ended'
}

/** Runs transactions, and rejects queries outside of one from the code inside it. */
export class Transactions {
  readonly #running = new AsyncLocalStorage<Running>()

  /** Returns the dialect with a check of every connection that Kysely acquires. */
  guard(dialect: Dialect): Dialect {
    return {
      createAdapter: () => dialect.createAdapter(),
      createDriver: () => {
        const driver = dialect.createDriver()
        const acquire = driver.acquireConnection.bind(driver)
        driver.acquireConnection = async (options) => {
          this.#enter()
          return acquire(options)
        }
        return driver
      },
      createIntrospector: (db) => dialect.createIntrospector(db),
      createQueryCompiler: () => dialect.createQueryCompiler(),
    }
  }

  /** @throws Error inside of a transaction. */
  requireOutside(): void {
    if (this.#running.getStore()?.state === 'open') {
      throw new Error('A query outside of the transaction that is open: use its `trx`.')
    }
  }

  async run<T>(db: Kysely<Tables>, work: (trx: Transaction<Tables>) => Promise<T>): Promise<T> {
    this.requireOutside()
    const running: Running = { state: 'begins' }
    try {
      return await this.#running.run(running, () => db.transaction().execute(work))
    } finally {
      // Work that was started inside and goes on, such as a loop in the background, is outside now.
      running.state = 'ended'
    }
  }

  /** Lets the first connection be acquired, which is the transaction's own. */
  #enter(): void {
    this.requireOutside()
    const running = this.#running.getStore()
    if (running?.state === 'begins') running.state = 'open'
  }
}
