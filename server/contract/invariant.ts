/**
 * Asserts what the program guarantees and its types cannot express.
 *
 * @param message the guarantee.
 * @throws if it does not hold, which is an error in the program.
 */
export function invariant(condition: unknown, message: string): asserts condition {
  if (condition) return
  throw new Error(`Invariant violated: ${message}`)
}
