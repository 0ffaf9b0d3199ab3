import type { CompiledQuery, Dialect, QueryResult } from 'kysely'

/** The two databases that can hold the store. */
export type EngineName = 'sqlite' | 'postgres'

/** What `open.ts` needs of either one; everything above it is the same for both. */
export interface Engine {
  readonly name: EngineName
  readonly dialect: Dialect
  /** Runs a query outside of transactions, where there is a shorter way than Kysely's. */
  readonly execute?: <R>(query: CompiledQuery<R>) => Promise<QueryResult<R>>
  /** Begins to notice changes from outside; called once, when the tables exist. */
  watch(): Promise<void>
  /** See `Store.changedOutside`. */
  changedOutside(): boolean
  /** See `Store.close`. */
  close(): Promise<void>
}
