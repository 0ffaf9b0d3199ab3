/** Resolves in a separate turn of the event loop for each call. */
export type NextTurn = () => Promise<void>

/**
 * Creates a {@link NextTurn}. Work that blocks for milliseconds awaits it first, so that other
 * requests are handled between any two pieces of such work.
 *
 * @param turns number of turns that each call waits for. With 2, every second turn is left to other
 * requests.
 */
export function createTurns(turns = 1): NextTurn {
  let last = Promise.resolve()
  const wait = async () => {
    for (let turn = 0; turn < turns; turn++) await new Promise((resolve) => setImmediate(resolve))
  }
  return () => {
    last = last.then(wait)
    return last
  }
}
