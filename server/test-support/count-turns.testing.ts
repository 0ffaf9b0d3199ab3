/** Returns the number of turns of the event loop that pass until the work ends. */
export async function countTurns(work: () => Promise<unknown>): Promise<number> {
  let turns = 0
  let next = setImmediate(function count() {
    turns++
    next = setImmediate(count)
  })
  try {
    await work()
  } finally {
    clearImmediate(next)
  }
  return turns
}
