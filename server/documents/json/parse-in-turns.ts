import { createTurns, type NextTurn, runInTurns } from '../../concurrency/turns.ts'
import { type Parsed, parseAndPrint, parseInSteps } from '../../contract/json/strict-json.ts'

/**
 * Number of characters of a large document. A smaller one is parsed, printed and checked in about a
 * millisecond.
 */
export const LARGE_LENGTH = 64 * 1024

const sharedTurns = createTurns()

/**
 * Parses a document as `parseAndPrint` does. Each step of a large one takes a turn of the event loop
 * of its own; the result is then a promise.
 */
export function parseInTurns(
  text: string,
  nextTurn: NextTurn = sharedTurns,
): Parsed | Promise<Parsed> {
  return text.length > LARGE_LENGTH ? runInTurns(parseInSteps(text), nextTurn) : parseAndPrint(text)
}
