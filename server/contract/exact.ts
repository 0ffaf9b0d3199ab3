import * as z from 'zod/mini'
import { isMisspelling } from './misspelling.ts'

/** Returns a schema of an object whose unknown keys are rejected with the name they resemble. */
export const exact = <Shape extends z.core.$ZodLooseShape>(shape: Shape) =>
  z.strictObject(shape, {
    error: (issue) =>
      issue.code === 'unrecognized_keys'
        ? unknownField(String((issue as { keys?: unknown[] }).keys?.[0] ?? ''), Object.keys(shape))
        : undefined,
  })

function unknownField(name: string, known: readonly string[]): string {
  const shown = `there is no field ${JSON.stringify(name.slice(0, 64))}`
  const lower = name.toLowerCase()
  const similar = known.find((each) => {
    const other = each.toLowerCase()
    return lower === other || isMisspelling(lower, other) || isBeginning(lower, other)
  })
  return similar === undefined
    ? `${shown}; the fields are ${known.join(', ')}`
    : `${shown}; the nearest is ${similar}`
}

/** Returns whether one of two names begins with the other, in at least four characters. */
const isBeginning = (a: string, b: string) =>
  Math.min(a.length, b.length) >= 4 && (a.startsWith(b) || b.startsWith(a))
