import { setTimeout as pause } from 'node:timers/promises'
import { OutcomeUnknown } from './unavailable.ts'

/** Pauses before the lookups, ms. The change may still be in progress. */
const LOOKUP_DELAYS = [0, 50, 200]

/**
 * Makes a change. If its outcome is unknown, looks up whether it was made, so that a successful
 * change is not reported as unknown.
 *
 * @param find returns the result of the change, or undefined if the change was not made.
 * @throws the error of the change; {@link OutcomeUnknown} if the lookup does not find the change.
 */
export async function resolveOutcome<T>(
  change: Promise<T>,
  find: () => Promise<T | undefined>,
): Promise<T> {
  try {
    return await change
  } catch (error) {
    if (!(error instanceof OutcomeUnknown)) throw error
    for (const ms of LOOKUP_DELAYS) {
      await pause(ms)
      const found = await find().catch(() => undefined)
      if (found !== undefined) return found
    }
    throw error
  }
}
