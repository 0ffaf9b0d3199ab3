import type { CompiledQuery, Dialect, QueryResult } from 'kysely'
import type { ConnectionUse } from './availability/connection-limits.ts'
import type { Outage } from './availability/health-monitor.ts'

export type EngineName = 'sqlite' | 'postgres'

/**
 * The purpose that a store is opened for. A `node` locks its data folder and listens for
 * notifications. A `tool`, which may run beside a node, does neither. A `command` is a tool that
 * needs an existing store.
 */
export type StoreRole = 'node' | 'tool' | 'command'

/**
 * State that a node has to reload: `changes` (endpoints, databases, people), `access` (ended
 * sessions and tokens, changed roles), `nodes` (reports of other nodes), or `all` if notifications
 * may have been missed.
 */
export type NotificationTopic = 'changes' | 'access' | 'nodes' | 'all'

/** Limits of the lookups that PostgreSQL runs together. */
export interface LookupLimits {
  /** Maximum number of rows that they read, by default for lookups of one row. */
  readonly rows?: number
  /** Returns the maximum number of rows that a lookup with these parameters reads; by default 1. */
  readonly rowsOf?: (...parameters: readonly string[]) => number
}

/** A statement that makes several changes, each independently of the others. */
export interface RowStatement {
  /** Names the prepared statement. */
  readonly name: string
  /** The columns of the table `input`, which has a row for each change. All are texts. */
  readonly columns: readonly string[]
  /** The column that the statement returns for each change that it made. Its values are unique. */
  readonly key: string
  /** @param input the table, for the `from` of the statement. */
  readonly sql: (input: string) => string
}

/**
 * Makes a change; returns whether it was made.
 *
 * @throws RowLocked
 */
export type ChangeRow = (...values: readonly string[]) => Promise<boolean>

/** A change was not made, because it would have to wait for the lock of a longer transaction. */
export class RowLocked extends Error {}

/** Runs a statement synchronously. */
export type RunStatement = <R>(query: CompiledQuery<R>) => QueryResult<R>

/** A snapshot of the store; see `Store.openSnapshot`. */
export interface EngineSnapshot {
  execute<R>(query: CompiledQuery<R>): QueryResult<R> | Promise<QueryResult<R>>
  close(): Promise<void>
}

/**
 * Database-specific part of a store. Code outside of the engines is the same for both databases.
 */
export interface Engine {
  readonly name: EngineName
  readonly dialect: Dialect
  /**
   * Runs a query outside of transactions without Kysely's overhead. Results may be cached and
   * shared, so their rows are frozen. Missing if there is no faster path than Kysely's.
   */
  readonly execute?: <R>(query: CompiledQuery<R>) => Promise<QueryResult<R>>
  /** See `Store.atomically`. Missing if statements are asynchronous. */
  readonly atomically?: <T>(work: (run: RunStatement) => T) => Promise<T>
  /**
   * Like {@link execute} for read-only queries, but synchronous. Missing if reads are asynchronous.
   */
  readonly read?: <R>(query: CompiledQuery<R>) => QueryResult<R>
  /** See `Store.prepareLookup`. Missing if {@link read} is fast enough. */
  readonly prepareLookup?: <R>(
    query: CompiledQuery<R>,
    limits?: LookupLimits,
  ) => (...parameters: readonly string[]) => Promise<QueryResult<R>>
  /** See `Store.prepareChange`. Missing on SQLite, which commits concurrent changes together. */
  readonly prepareChange?: (statement: RowStatement) => ChangeRow
  /**
   * Waits for a migration in progress, then runs a query. Missing on SQLite, where no other node
   * migrates the store.
   */
  readonly afterMigrations?: <R>(query: CompiledQuery<R>) => Promise<QueryResult<R>>
  /** See `Store.openSnapshot`. SQLite opens it synchronously. */
  openSnapshot(): EngineSnapshot | Promise<EngineSnapshot>
  /**
   * Starts to detect changes by other processes. Called once, after the migrations.
   *
   * @param onNotification see `Store.onNotification`.
   * @param onFeedChange see `Store.onFeedChange`.
   */
  watch(
    onNotification: (topic: NotificationTopic) => void,
    onFeedChange: (feed?: number) => void,
  ): Promise<void>
  /** See `Store.changedOutside`. @throws Failure `unavailable` */
  changedOutside(): boolean
  /** See `Store.connections`. Missing if the engine has no connection pool. */
  readonly connections?: () => ConnectionUse
  /** Runs a long transaction when capacity is available. Missing if there is no limit. */
  readonly runLong?: <T>(run: () => Promise<T>) => Promise<T>
  /** See `Store.acquireLock`. */
  acquireLock(name: string): Promise<boolean>
  /** See `Store.readRevision`. */
  readonly readRevision?: () => Promise<number>
  /** Registers a callback for failed changes that may mean that the store is read-only. */
  onWriteFailure(callback: (failure: unknown) => void): void
  /** See `WriteCheckDeps.isDiskFull`. */
  readonly isDiskFull?: () => Promise<boolean>
  /** Replaces every connection before its next use, because an open session may stay read-only. */
  readonly renewConnections?: () => void
  /** See `Store.outage`. Missing if the engine cannot become unavailable. */
  readonly outage?: () => Outage | undefined
  /** See `Store.recovered`. Missing if the engine cannot become unavailable. */
  readonly recovered?: () => Promise<boolean>
  /** See `Store.close`. */
  close(): Promise<void>
}
