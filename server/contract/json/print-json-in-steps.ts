import type { Steps } from '../run-steps.ts'
import type { Json } from './json.ts'

type JsonObject = { readonly [key: string]: Json }

/** Number of values that are printed in one step, objects and arrays included. */
const PIECE_VALUES = 4_096

/** Prints a value like `printJson`, in steps. */
export function* printJsonInSteps(value: Json, pieceValues = PIECE_VALUES): Steps<string> {
  const isSmall = countValues(value, pieceValues) <= pieceValues
  if (isSmall || typeof value !== 'object' || value === null) return JSON.stringify(value)
  yield
  return Array.isArray(value)
    ? `[${yield* printElements(value, pieceValues)}]`
    : `{${yield* printFields(value as JsonObject, pieceValues)}}`
}

function* printElements(elements: readonly Json[], pieceValues: number): Steps<string> {
  const printed: string[] = []
  let piece = 0
  let count = 0
  function printPiece(end: number): void {
    if (piece < end) printed.push(JSON.stringify(elements.slice(piece, end)).slice(1, -1))
    piece = end
    count = 0
  }
  for (const [at, element] of elements.entries()) {
    const added = countValues(element, pieceValues)
    if (count + added <= pieceValues) {
      count += added
      continue
    }
    printPiece(at)
    yield
    if (added <= pieceValues) {
      count = added
      continue
    }
    printed.push(yield* printJsonInSteps(element, pieceValues))
    piece = at + 1
  }
  printPiece(elements.length)
  return printed.join()
}

function* printFields(object: JsonObject, pieceValues: number): Steps<string> {
  const printed: string[] = []
  const keys = Object.keys(object)
  yield
  let count = 0
  for (const key of keys) {
    const value = object[key] as Json
    const added = countValues(value, pieceValues)
    const isLarge = added > pieceValues
    const text = isLarge ? yield* printJsonInSteps(value, pieceValues) : JSON.stringify(value)
    printed.push(`${JSON.stringify(key)}:${text}`)
    count += added
    if (count > pieceValues) {
      yield
      count = 0
    }
  }
  return printed.join()
}

/** Counts the values that a value consists of, itself included. Stops after `max`. */
function countValues(value: Json, max: number): number {
  if (typeof value !== 'object' || value === null) return 1
  let count = 1
  for (const member of Array.isArray(value) ? value : Object.values(value)) {
    count += countValues(member, max - count)
    if (count > max) return count
  }
  return count
}
