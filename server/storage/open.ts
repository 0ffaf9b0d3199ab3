// The interface of the store and its only implementation, side by side.

import { type CompiledQuery, Kysely, type QueryResult } from 'kysely'
import type { ConnectionUse } from './availability/connection-limits.ts'
import type { Outage } from './availability/health-monitor.ts'
import type { UntilAvailable } from './availability/until-available.ts'
import { createWriteCheck, type ReadOnly } from './availability/write-check.ts'
import { ChangeQueue } from './changes/change-queue.ts'
import { CollectionWrites } from './changes/collection-writes.ts'
import {
  type Change,
  type Queries,
  type RunChange,
  type RunTransaction,
  Transactions,
} from './changes/transactions.ts'
import type {
  ChangeRow,
  Engine,
  EngineName,
  NotificationTopic,
  RowStatement,
  RunStatement,
} from './engine.ts'
import { migrate } from './migrate.ts'
import { allMigrations } from './migrations/all-migrations.ts'
import type { Tables } from './tables.ts'

export interface Store {
  readonly engine: EngineName
  /** Queries throw `unavailable` after {@link close} and while the database is unavailable. */
  readonly db: Queries
  readonly transaction: RunTransaction
  readonly change: RunChange
  /** Coordinates document writes with jobs. SQLite only. */
  readonly collectionWrites?: CollectionWrites
  /**
   * Prepares a frequent query, which is compiled once and run with different parameters. Building
   * the query and passing it through Kysely would take longer than the database does. Each run is
   * outside of transactions. Results may be cached and shared, so their rows are frozen.
   */
  prepare<R>(query: CompiledQuery<R>): (...parameters: unknown[]) => Promise<QueryResult<R>>
  /** Like {@link prepare} for a read-only query, which SQLite runs synchronously. */
  prepareRead<R>(
    query: CompiledQuery<R>,
  ): (...parameters: unknown[]) => QueryResult<R> | Promise<QueryResult<R>>
  /**
   * Like {@link prepareRead} for a query that finds a few small rows by texts. On PostgreSQL, the
   * lookups of a turn of the event loop are one statement.
   *
   * @param items maximum number of lookups in a statement, by default for lookups of one row.
   */
  prepareLookup<R>(
    query: CompiledQuery<R>,
    items?: number,
  ): (...parameters: readonly string[]) => QueryResult<R> | Promise<QueryResult<R>>
  /**
   * Prepares a change of single rows outside of transactions. The changes of a turn of the event
   * loop are one statement and one commit. A change that would have to wait for a longer
   * transaction is not made. PostgreSQL only.
   *
   * @throws Failure `unavailable`; `OutcomeUnknown` if the database does not confirm it.
   */
  readonly prepareChange?: (statement: RowStatement) => ChangeRow
  /**
   * Runs statements in one transaction, which is rolled back if the work throws. The work is
   * synchronous, so no other writer waits for it across turns of the event loop. SQLite only.
   */
  readonly atomically?: <T>(work: (run: RunStatement) => T) => Promise<T>
  /**
   * Opens a snapshot, which later changes do not affect. It holds a connection and keeps the engine
   * from reusing space, so close it soon.
   *
   * @throws Failure `unavailable`
   */
  openSnapshot(): Promise<Snapshot>
  /**
   * Returns true once after another process (a command-line tool or another node) has changed the
   * store since the last call; false if the store is closed. Takes about a microsecond, so it can
   * be called for each request. With PostgreSQL, the change is reported some milliseconds later,
   * and changes of this process are included.
   *
   * @throws Failure `unavailable` if SQLite cannot read its file. A later call reports the change.
   */
  changedOutside(): boolean
  /**
   * Registers a callback for changes to state that this node caches, whether this or another node
   * made them. The topic says what to reload. SQLite never calls back, because a single node uses
   * it. Returns the unsubscribe function.
   */
  onNotification(callback: (topic: NotificationTopic) => void): () => void
  /** Returns the use of the connections to PostgreSQL; zeros with SQLite. */
  connections(): ConnectionUse
  /**
   * Acquires a cluster-wide lock for as long as this node is connected to the store. Returns
   * whether this node has the lock; when the holder disconnects, the next caller acquires it.
   * Always true with SQLite. A node that loses its connection loses the lock, and this method
   * throws until it reconnects. A connection that stops responding is detected within a few
   * seconds.
   *
   * @throws Failure `unavailable`
   */
  acquireLock(name: string): Promise<boolean>
  /**
   * Reads the revision of the store over the connection for notifications, or over the pool if that
   * connection does not respond. Missing with SQLite, where {@link changedOutside} is cheap.
   *
   * @throws Failure `unavailable` if neither responds.
   */
  readonly readRevision?: () => Promise<number>
  /**
   * Registers a callback that is called when the store becomes read-only (a full disk, a read-only
   * PostgreSQL), and with undefined when it accepts changes again. Reads continue to work. Returns
   * the unsubscribe function.
   */
  onReadOnly(callback: (readOnly: ReadOnly | undefined) => void): () => void
  /**
   * Returns since when the database has been unavailable, and why; undefined while it is available.
   * While it is unavailable, all queries throw `unavailable` immediately, and health checks
   * continue until it recovers.
   */
  outage(): Outage | undefined
  /** Checks the database, and waits until it is available. Returns false if it was available. */
  recovered(): Promise<boolean>
  /**
   * Rejects new work, waits for work in progress, and closes. Later calls return the same promise.
   */
  close(): Promise<void>
}

/** A consistent state of the store, for reading. */
export interface Snapshot extends AsyncDisposable {
  /**
   * Prepares a query of the snapshot. Queries must not overlap.
   *
   * @throws Failure `unavailable`; `busy` if too much was written since the snapshot was opened.
   */
  readonly prepareRead: Store['prepareRead']
}

/** A data folder for SQLite, or the URL of a PostgreSQL database. */
export type StoreLocation = { readonly data: string } | { readonly databaseUrl: string }

/**
 * Opens the store and runs pending migrations. This is the only place that chooses the engine. A
 * `node` locks its data folder and listens for notifications. A `tool` (a command that runs beside a
 * node) does neither.
 *
 * @param onAvailabilityChange called when the database becomes unavailable, again when the reason changes, and
 * with undefined when it recovers. With SQLite: called when its files are deleted, moved or
 * replaced.
 * @param untilAvailable retries steps of the start until PostgreSQL is available. By default there
 * are no retries.
 * @throws Failure `conflict` if another node uses the data folder, or if a newer Gatehouse has
 * changed the store; `unavailable` if the store cannot be opened.
 */
export async function openStore(
  location: StoreLocation,
  role: 'node' | 'tool',
  onAvailabilityChange?: (outage: Outage | undefined) => void,
  untilAvailable?: UntilAvailable,
): Promise<Store> {
  const engine = await openEngine(location, role, onAvailabilityChange, untilAvailable)
  const transactions = new Transactions()
  const changes = new ChangeQueue()
  const db = new Kysely<Tables>({ dialect: transactions.guard(engine.dialect) })
  const listeners = new Set<(topic: NotificationTopic) => void>()
  try {
    const prepare = async () => {
      await migrate(db, allMigrations(engine.name))
      // Started after the migrations, so that their changes are not reported as changes by others.
      await engine.watch((topic) => {
        for (const listener of listeners) listener(topic)
      })
    }
    await (untilAvailable === undefined ? prepare() : untilAvailable(prepare))
  } catch (error) {
    await engine.close()
    throw error
  }
  const readOnlyListeners = new Set<(readOnly: ReadOnly | undefined) => void>()
  const writes = createWriteCheck({
    write() {
      if (writes.readOnly !== undefined) engine.renewConnections?.()
      return writeCheckRow(db)
    },
    isDiskFull: engine.isDiskFull,
    changed(readOnly) {
      for (const listener of readOnlyListeners) listener(readOnly)
    },
  })
  engine.onWriteFailure(writes.reportFailure)
  const execute = engine.execute ?? (<R>(query: CompiledQuery<R>) => db.executeQuery(query))
  const read = engine.read ?? execute
  const guarded =
    (atomically: NonNullable<Engine['atomically']>): Store['atomically'] =>
    async (work) => {
      transactions.requireOutside()
      return atomically(work)
    }
  const outside =
    (prepareChange: NonNullable<Engine['prepareChange']>): Store['prepareChange'] =>
    (statement) => {
      const change = prepareChange(statement)
      return (...values) => {
        transactions.requireOutside()
        return change(...values)
      }
    }
  let closing: Promise<void> | undefined
  const prepareRead: Store['prepareRead'] =
    ({ query, sql, queryId }) =>
    (...parameters) => {
      transactions.requireOutside()
      return read({ query, sql, queryId, parameters })
    }
  return {
    engine: engine.name,
    db: db as Queries,
    ...(engine.name === 'sqlite' && { collectionWrites: new CollectionWrites() }),
    transaction(work, length) {
      const run = () => transactions.run(db, work)
      return length === 'long' && engine.runLong !== undefined ? engine.runLong(run) : run()
    },
    async change(work) {
      transactions.requireOutside()
      const run = () => transactions.run(db, (trx) => work(trx as Change))
      return engine.name === 'sqlite' ? run() : changes.run(run)
    },
    prepare:
      ({ query, sql, queryId }) =>
      async (...parameters) => {
        transactions.requireOutside()
        return execute({ query, sql, queryId, parameters })
      },
    prepareRead,
    prepareLookup(query, items) {
      const lookUp = engine.prepareLookup?.(query, items)
      if (lookUp === undefined) return prepareRead(query)
      return (...parameters) => {
        transactions.requireOutside()
        return lookUp(...parameters)
      }
    },
    ...(engine.prepareChange && { prepareChange: outside(engine.prepareChange) }),
    ...(engine.atomically && { atomically: guarded(engine.atomically) }),
    async openSnapshot() {
      transactions.requireOutside()
      const { execute, close } = await engine.openSnapshot()
      let closing: Promise<void> | undefined
      return {
        prepareRead:
          ({ query, sql, queryId }) =>
          (...parameters) =>
            execute({ query, sql, queryId, parameters }),
        [Symbol.asyncDispose]() {
          closing ??= close()
          return closing
        },
      }
    },
    changedOutside: () => engine.changedOutside(),
    onNotification(callback) {
      listeners.add(callback)
      return () => listeners.delete(callback)
    },
    connections: () => engine.connections?.() ?? { used: 0, waiting: 0 },
    acquireLock: (name) => engine.acquireLock(name),
    ...(engine.readRevision && { readRevision: engine.readRevision }),
    onReadOnly(callback) {
      readOnlyListeners.add(callback)
      return () => readOnlyListeners.delete(callback)
    },
    outage: () => engine.outage?.(),
    recovered: async () => (await engine.recovered?.()) ?? false,
    close() {
      changes.close()
      closing ??= Promise.all([writes.stop(), engine.close()]).then(() => {})
      return closing
    },
  }
}

/** Loads the engine of the location, with its driver, and opens it. */
async function openEngine(
  ...[location, role, onAvailabilityChange = () => {}, untilAvailable]: Parameters<typeof openStore>
): Promise<Engine> {
  if ('data' in location) {
    const { openSqlite } = await import('./sqlite/open-sqlite.ts')
    return openSqlite(location.data, role, onAvailabilityChange)
  }
  const { openPostgres } = await import('./postgres/open-postgres.ts')
  return openPostgres(location.databaseUrl, role, onAvailabilityChange, untilAvailable)
}

/** Makes the smallest possible change, to test whether the store accepts writes. */
async function writeCheckRow(db: Kysely<Tables>): Promise<void> {
  await db
    .insertInto('settings')
    .values({ name: 'write-check', value: String(Date.now()) })
    .onConflict((conflict) =>
      conflict.column('name').doUpdateSet((eb) => ({ value: eb.ref('excluded.value') })),
    )
    .execute()
}
