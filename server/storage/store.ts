import type { CompiledQuery, QueryResult } from 'kysely'
import type { ConnectionUse } from './availability/connection-limits.ts'
import type { Outage } from './availability/health-monitor.ts'
import type { ReadOnly } from './availability/write-check.ts'
import type { Queries, RunChange, RunTransaction } from './changes/transactions.ts'
import type {
  ChangeRow,
  EngineName,
  LookupLimits,
  NotificationTopic,
  RowStatement,
  RunStatement,
} from './engine.ts'

/** The database of a node or a command, opened by `openStore` (open.ts). */
export interface Store {
  readonly engine: EngineName
  /** Queries throw `unavailable` after {@link close} and while the database is unavailable. */
  readonly db: Queries
  readonly transaction: RunTransaction
  readonly change: RunChange
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
   */
  prepareLookup<R>(
    query: CompiledQuery<R>,
    limits?: LookupLimits,
  ): (...parameters: readonly string[]) => QueryResult<R> | Promise<QueryResult<R>>
  /**
   * Prepares a change of single rows outside of transactions. The changes of a turn of the event
   * loop are one statement and one commit. A change that a unique index excludes is not made.
   * PostgreSQL only.
   *
   * @throws RowLocked; Failure `unavailable`; `OutcomeUnknown` if the database does not confirm it.
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
   * be called for each request. With PostgreSQL, the change is reported a few milliseconds later,
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
  /**
   * Registers a callback for new changes in a feed, by this node or another. It may be called without
   * any, and without an id for all feeds: by SQLite after each commit. Returns the unsubscribe
   * function.
   */
  onFeedChange(callback: (feed?: number) => void): () => void
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
