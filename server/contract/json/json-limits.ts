import { Failure } from '../../failure.ts'
import {
  BACKSLASH,
  CLOSE_ARRAY,
  CLOSE_OBJECT,
  OPEN_ARRAY,
  OPEN_OBJECT,
  QUOTE,
} from './json-characters.ts'

/** Maximum nesting depth of JSON; `[[]]` has a depth of 2. */
export const DEPTH = 100

/**
 * Maximum number of objects and arrays in JSON. Parsing many small ones takes many times as long as
 * other text of the same length, most of it in the garbage collector.
 */
export const STRUCTURES = 65_536

/**
 * Rejects a JSON text that is nested deeper than {@link DEPTH}, or has more objects and arrays than
 * {@link STRUCTURES}. Call it before parsing: it takes linear time and constant stack for any input.
 *
 * @param around number of enclosing levels, allowed in addition to {@link DEPTH}.
 * @param before number of objects and arrays in preceding texts that share the limit.
 * @returns the number of objects and arrays, including those before.
 * @throws Failure `invalid`
 */
export function requireJsonLimits(text: string, around = 0, before = 0): number {
  let depth = 0
  let structures = before
  let inString = false
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === QUOTE) {
      inString = !inString
    } else if (inString) {
      if (code === BACKSLASH) at++
    } else if (code === OPEN_ARRAY || code === OPEN_OBJECT) {
      depth++
      if (depth > DEPTH + around) {
        throw new Failure('invalid', `JSON can be nested at most ${DEPTH} levels deep.`, {
          field: '',
        })
      }
      if (++structures > STRUCTURES) {
        throw new Failure(
          'invalid',
          `JSON can contain at most ${STRUCTURES.toLocaleString('en')} objects and arrays.`,
          { field: '' },
        )
      }
    } else if (code === CLOSE_ARRAY || code === CLOSE_OBJECT) {
      depth--
    }
  }
  return structures
}
