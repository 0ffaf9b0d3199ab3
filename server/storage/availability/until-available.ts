import { setTimeout as pause } from 'node:timers/promises'
import { StoreUnavailable } from './unavailable.ts'

/** Pauses between two attempts of a step, ms: doubled each time from first to longest. */
const PAUSE = { first: 50, longest: 1_000 } as const

/** How often a start that waits says so, ms. */
export const SAY_AGAIN = 10_000

/** How the steps of a start wait for the store. */
export interface Waiting {
  /** Aborted when the node is to stop. */
  readonly signal: AbortSignal
  /** Told why a step waits, first at once, then every {@link SAY_AGAIN}. */
  readonly onWait: (error: StoreUnavailable) => void
}

/** Repeats a step until the store is available; a step can be repeated where it was interrupted. */
export type UntilAvailable = <T>(step: () => Promise<T>) => Promise<T>

/**
 * Makes an {@link UntilAvailable}, which waits without a limit.
 *
 * @throws what the step throws where that does not pass by waiting; the reason of the signal.
 */
export function createUntilAvailable({ signal, onWait }: Waiting): UntilAvailable {
  let said = -Infinity
  return async (step) => {
    for (let attempt = 0; ; attempt++) {
      signal.throwIfAborted()
      try {
        return await step()
      } catch (error) {
        if (!(error instanceof StoreUnavailable)) throw error
        if (performance.now() - said >= SAY_AGAIN) {
          said = performance.now()
          onWait(error)
        }
      }
      const ms = Math.min(PAUSE.first * 2 ** attempt, PAUSE.longest)
      // An abort is thrown at the next attempt.
      await pause(ms, undefined, { signal }).catch(() => {})
    }
  }
}
