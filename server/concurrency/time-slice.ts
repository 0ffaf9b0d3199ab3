import type { NextTurn } from './turns.ts'

/** Time after which work yields to other requests, ms. */
export const TIME_SLICE = 10

/**
 * Returns a function to call between two pieces of work. It returns a promise of the next turn if the
 * work has taken {@link TIME_SLICE}, and otherwise undefined.
 */
export function createTimeSlice(nextTurn: NextTurn): () => Promise<void> | undefined {
  let begun = performance.now()
  return () => {
    if (performance.now() - begun < TIME_SLICE) return undefined
    return nextTurn().then(() => {
      begun = performance.now()
    })
  }
}
