import { Failure } from '../failure.ts'

/** How deep objects and arrays may be nested in a JSON text: `[[]]` is nested 2 levels deep. */
export const DEPTH = 100

/**
 * Rejects a JSON text that is nested deeper than {@link DEPTH}. To be called before the text is
 * parsed: it takes linear time and no stack, whatever the text holds.
 *
 * @throws Failure `invalid`
 */
export function requireDepth(text: string): void {
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
      if (depth > DEPTH) {
        throw new Failure('invalid', `JSON may be nested at most ${DEPTH} levels deep.`)
      }
    } else if (code === CLOSE_ARRAY || code === CLOSE_OBJECT) {
      depth--
    }
  }
}

const QUOTE = 0x22
const BACKSLASH = 0x5c
const OPEN_ARRAY = 0x5b
const CLOSE_ARRAY = 0x5d
const OPEN_OBJECT = 0x7b
const CLOSE_OBJECT = 0x7d
