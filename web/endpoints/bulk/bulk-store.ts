import { createStore, useStore } from '../../ui/store.ts'

export interface BulkFailure {
  readonly endpoint: string
  readonly reason: string
}

/** A running or finished bulk change of this page. */
export interface BulkRun {
  readonly id: string
  readonly kind: 'change' | 'undo'
  readonly total: number
  /** How many of the changes are removals. */
  readonly removals: number
  readonly made: number
  readonly unchanged: number
  readonly failures: readonly BulkFailure[]
  /** The endpoints that are as requested. */
  readonly done: readonly string[]
  /** How it ended; undefined while it runs. The error of an interruption is for users. */
  readonly end: 'completed' | 'cancelled' | Error | undefined
  /** Whether it has ended, and the endpoints were refetched since if they could be. */
  readonly isRefetched: boolean
}

/** The last bulk change of this page that the bar has shown. */
export const bulkStore = createStore<BulkRun | undefined>(undefined)

/** Returns the last bulk change of this page that the bar has shown. */
export const useBulkRun = (): BulkRun | undefined => useStore(bulkStore)
