/** Resolves in a separate turn of the event loop for each call. */
export type NextTurn = () => Promise<void>

/**
 * Creates a {@link NextTurn}. Work that blocks for milliseconds awaits it first, so that other
 * requests are handled between any two pieces of such work.
 */
export function createTurns(): NextTurn {
  let last = Promise.resolve()
  const wait = () => new Promise<void>((resolve) => setImmediate(resolve))
  return () => {
    last = last.then(wait)
    return last
  }
}
