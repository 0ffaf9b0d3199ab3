/** Resolves in a turn of the event loop that no other caller has. */
export type NextTurn = () => Promise<void>

/**
 * Makes a {@link NextTurn}. Work that takes milliseconds waits for it, so that however many requests
 * ask for such work at once, other requests come between any two of them.
 */
export function createTurns(): NextTurn {
  let last = Promise.resolve()
  return () => {
    last = last.then(() => new Promise((resolve) => setImmediate(resolve)))
    return last
  }
}
