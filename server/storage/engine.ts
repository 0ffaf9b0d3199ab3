import type { CompiledQuery, Dialect, QueryResult } from 'kysely'
import type { ConnectionUse } from './connection-limits.ts'
import type { Away } from './reach.ts'

/** The two databases that can hold the store. */
export type EngineName = 'sqlite' | 'postgres'

/**
 * What is to be looked at again: `changes` (endpoints, databases, people), `access` (sessions and
 * tokens that have ended), `nodes` (what other nodes report); `all` where notices may have been
 * missed.
 */
export type NoticeTopic = 'changes' | 'access' | 'nodes' | 'all'

/** What `open.ts` needs of either one; everything above it is the same for both. */
export interface Engine {
  readonly name: EngineName
  readonly dialect: Dialect
  /**
   * Runs a query outside of transactions, where there is a shorter way than Kysely's. What is read may
   * be shared with others who ask the same: its rows are frozen.
   */
  readonly execute?: <R>(query: CompiledQuery<R>) => Promise<QueryResult<R>>
  /** Runs a query that only reads likewise, and answers at once; missing: that takes a while. */
  readonly readAtOnce?: <R>(query: CompiledQuery<R>) => QueryResult<R>
  /**
   * Begins to notice changes from outside; called once, when the tables exist. `heard`: see
   * `Store.onNotice`.
   */
  watch(heard: (topic: NoticeTopic) => void): Promise<void>
  /** See `Store.changedOutside`. @throws Failure `unavailable` */
  changedOutside(): boolean
  /** See `Store.connections`. Missing: there is nothing to wait for. */
  readonly connections?: () => ConnectionUse
  /** Runs a long transaction once there is room for it. Missing: there always is. */
  readonly runLong?: <T>(run: () => Promise<T>) => Promise<T>
  /** See `Store.hold`. */
  hold(name: string): Promise<boolean>
  /** See `Store.readRevision`. */
  readonly readRevision?: () => Promise<number>
  /** Calls back with the failure of each change that may say that no change can be stored. */
  onWriteFailure(callback: (failure: unknown) => void): void
  /** See `WriteCheckDeps.looksFull`. */
  readonly looksFull?: () => Promise<boolean>
  /** Replaces every connection before its next use: it may stay read-only while the store is not. */
  readonly renewConnections?: () => void
  /** See `Store.away`; missing: it cannot be. */
  readonly away?: () => Away | undefined
  /** Whether the store was away; then it resolves when it is back. Missing: it cannot be. */
  readonly returned?: () => Promise<boolean>
  /** See `Store.close`. */
  close(): Promise<void>
}
