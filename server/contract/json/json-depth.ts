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
 * Rejects a JSON text that is nested deeper than {@link DEPTH}. Call it before parsing: it takes
 * linear time and constant stack for any input.
 *
 * @param around number of enclosing levels, allowed in addition to {@link DEPTH}.
 * @throws Failure `invalid`
 */
export function requireDepth(text: string, around = 0): void {
  let depth = 0
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
    } else if (code === CLOSE_ARRAY || code === CLOSE_OBJECT) {
      depth--
    }
  }
}
