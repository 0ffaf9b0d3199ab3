/** Resolves in a separate turn of the event loop for each call. */
export type NextTurn = () => Promise<void>

/** Duration of work, ms, for which one turn passes before the next work. */
const TURN = 10
/** Maximum number of turns that pass before the next work. */
const MAX_TURNS = 20

/**
 * Creates a {@link NextTurn}. Work that blocks for milliseconds awaits it first, so that other
 * requests are handled between any two pieces of such work. After a piece that took long, several
 * turns pass: Node.js accepts only one connection per listener in a turn, so new connections would
 * otherwise wait for as many pieces.
 */
export function createTurns(): NextTurn {
  let last = Promise.resolve()
  const wait = () => new Promise<void>((resolve) => setImmediate(resolve))
  async function pass(): Promise<void> {
    const begun = performance.now()
    await wait()
    const turns = Math.min(MAX_TURNS, Math.floor((performance.now() - begun) / TURN))
    for (let turn = 1; turn < turns; turn++) await wait()
  }
  return () => {
    const granted = last.then(wait)
    last = granted.then(pass)
    return granted
  }
}
