import { setTimeout as pause } from 'node:timers/promises'
import { StoreUnavailable } from './unavailable.ts'

/** Backoff between attempts, ms. Doubles from `first` to `longest`. */
const BACKOFF = { first: 50, longest: 1_000 } as const

/** Interval at which a waiting start is reported, ms. */
const REPORT_INTERVAL = 10_000

/** Options for waiting for the store during a start. */
export interface WaitOptions {
  /** Aborted when the node stops. */
  readonly signal: AbortSignal
  /** Called with the reason for the wait, immediately and then every {@link REPORT_INTERVAL}. */
  readonly onWait: (error: StoreUnavailable) => void
}

/** Retries a step until the store is available. The step must be safe to repeat. */
export type UntilAvailable = <T>(step: () => Promise<T>) => Promise<T>

/**
 * Creates an {@link UntilAvailable} without a limit on the number of attempts.
 *
 * @throws any error of the step except {@link StoreUnavailable}; the reason of the signal.
 */
export function createUntilAvailable({ signal, onWait }: WaitOptions): UntilAvailable {
  let reportedAt = -Infinity
  return async (step) => {
    for (let attempt = 0; ; attempt++) {
      signal.throwIfAborted()
      try {
        return await step()
      } catch (error) {
        if (!(error instanceof StoreUnavailable)) throw error
        if (performance.now() - reportedAt >= REPORT_INTERVAL) {
          reportedAt = performance.now()
          onWait(error)
        }
      }
      const ms = Math.min(BACKOFF.first * 2 ** attempt, BACKOFF.longest)
      // If the signal is aborted, the next iteration throws.
      await pause(ms, undefined, { signal }).catch(() => {})
    }
  }
}
