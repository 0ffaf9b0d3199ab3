/** Time after which longer work lets other requests run, ms. */
export const TIME_SLICE = 10

/** Maximum number of turns that pass before the next slice. */
const MAX_TURNS = 20

let last = Promise.resolve()

const wait = () => new Promise<void>((resolve) => setImmediate(resolve))

/**
 * Resolves in a separate turn of the event loop for each call in the process. Work that blocks for
 * milliseconds awaits it first, so that requests are handled between any two slices of such work.
 * After a slice that took long, several turns pass: Node.js accepts only one connection per listener
 * in a turn, so new connections would otherwise wait for as many slices.
 *
 * Not within a transaction: its locks would be held while other work runs.
 */
export function nextTurn(): Promise<void> {
  const granted = last.then(wait)
  last = granted.then(pass)
  return granted
}

async function pass(): Promise<void> {
  const begun = performance.now()
  await wait()
  const turns = Math.min(MAX_TURNS, Math.floor((performance.now() - begun) / TIME_SLICE))
  for (let turn = 1; turn < turns; turn++) await wait()
}

/**
 * Returns a function to call between two pieces of work. It returns a promise of the next turn if the
 * work has taken {@link TIME_SLICE}, and otherwise undefined.
 */
export function createTimeSlice(): () => Promise<void> | undefined {
  let begun = performance.now()
  return () => {
    if (performance.now() - begun < TIME_SLICE) return undefined
    return nextTurn().then(() => {
      begun = performance.now()
    })
  }
}
