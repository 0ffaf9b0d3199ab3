import type { Dialect } from 'kysely'

/** The two databases that can hold the store. */
export type EngineName = 'sqlite' | 'postgres'

/** What `open.ts` needs of either one; everything above it is the same for both. */
export interface Engine {
  readonly name: EngineName
  readonly dialect: Dialect
  /** Begins to notice changes from outside; called once, when the tables exist. */
  watch(): Promise<void>
  /** See `Store.changedOutside`. */
  changedOutside(): boolean
  /** See `Store.close`. */
  close(): Promise<void>
}
