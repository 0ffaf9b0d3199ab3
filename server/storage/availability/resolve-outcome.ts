import { setTimeout as pause } from 'node:timers/promises'
import { OutcomeUnknown } from './unavailable.ts'

/** How often it is looked, and the pause before, ms: the change may still be under way. */
const LOOKS = [0, 50, 200]

/**
 * Makes a change. Where the store was gone before it answered, looks whether the change was made: a
 * change that happened is not reported as one that may not have.
 *
 * @param look what the change would have answered, where it is found to have been made.
 * @throws what the change throws; {@link OutcomeUnknown} where it cannot be told.
 */
export async function settled<T>(
  change: Promise<T>,
  look: () => Promise<T | undefined>,
): Promise<T> {
  try {
    return await change
  } catch (error) {
    if (!(error instanceof OutcomeUnknown)) throw error
    for (const ms of LOOKS) {
      await pause(ms)
      const found = await look().catch(() => undefined)
      if (found !== undefined) return found
    }
    throw error
  }
}
