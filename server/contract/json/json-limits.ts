import { Failure } from '../../failure.ts'
import {
  BACKSLASH,
  CLOSE_ARRAY,
  CLOSE_OBJECT,
  COLON,
  OPEN_ARRAY,
  OPEN_OBJECT,
  QUOTE,
} from './json.ts'
import { endOfString } from './parse-json.ts'

/** Maximum nesting depth of JSON; `[[]]` has a depth of 2. */
export const DEPTH = 100

/**
 * Maximum number of objects and arrays in JSON. Parsing many small ones takes many times as long as
 * other text of the same length, most of it in the garbage collector.
 */
export const STRUCTURES = 65_536

/**
 * Maximum number of keys of an object. JavaScript lists the keys of an object in one step, which
 * takes milliseconds for tens of thousands.
 */
export const KEYS = 32_768

/**
 * Rejects a JSON text that is nested deeper than {@link DEPTH}, has more objects and arrays than
 * {@link STRUCTURES}, or an object with more keys than {@link KEYS}. Call it before parsing: it takes
 * linear time and constant stack for any input.
 *
 * @param around number of enclosing levels, allowed in addition to {@link DEPTH}.
 * @param before number of objects and arrays in preceding texts that share the limit.
 * @returns the number of objects and arrays, including those before.
 * @throws Failure `invalid`
 */
export function requireJsonLimits(text: string, around = 0, before = 0): number {
  let depth = 0
  let structures = before
  let keys = 0
  let inString = false
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === QUOTE) {
      inString = !inString
    } else if (inString) {
      if (code === BACKSLASH) at++
    } else if (code === COLON) {
      keys++
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
  if (keys > KEYS) requireFewKeys(text)
  return structures
}

/** @throws Failure `invalid` if an object has more keys than {@link KEYS}. */
function requireFewKeys(text: string): void {
  /** The numbers of keys of the objects that are open. Arrays have none. */
  const open: number[] = []
  let keys = 0
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === QUOTE) {
      at = endOfString(text, at)
      if (at === -1) return
    } else if (code === COLON) {
      if (++keys > KEYS) {
        throw new Failure(
          'invalid',
          `An object can have at most ${KEYS.toLocaleString('en')} keys.`,
          { field: '' },
        )
      }
    } else if (code === OPEN_ARRAY || code === OPEN_OBJECT) {
      open.push(keys)
      keys = 0
    } else if (code === CLOSE_ARRAY || code === CLOSE_OBJECT) {
      keys = open.pop() ?? 0
    }
  }
}
