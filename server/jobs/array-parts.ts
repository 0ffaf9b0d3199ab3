import { Failure } from '../failure.ts'

/** About so many characters are a part. */
const LENGTH = 128 * 1024

/** So many elements at most are a part. */
const ELEMENTS = 250

/** Whether a JSON text can only be an array. */
export const isArrayText = (text: string): boolean => /^[\t\n\r ]*\[/.test(text)

/**
 * Cuts the text of a JSON array into the texts of smaller arrays with the same elements, so that a
 * large one need not be parsed at once. What is no JSON stays none in one of the parts.
 *
 * @throws Failure `bad-json` where the parts could hide that the whole is no array.
 */
export function* arrayParts(text: string): Generator<string, void> {
  const begin = text.indexOf('[') + 1
  let from = begin
  let elements = 0
  let depth = 1
  let at = begin
  for (; at < text.length && depth > 0; at++) {
    const code = text.charCodeAt(at)
    if (code === QUOTE) at = endOfString(text, at)
    else if (code === OPEN_ARRAY || code === OPEN_OBJECT) depth++
    else if (code === CLOSE_ARRAY || code === CLOSE_OBJECT) depth--
    else if (code === COMMA && depth === 1) {
      elements++
      if (elements < ELEMENTS && at - from < LENGTH) continue
      // Nothing between two commas would pass as an empty array.
      if (isBlank(text.slice(from, at))) throw noJson()
      yield `[${text.slice(from, at)}]`
      from = at + 1
      elements = 0
    }
  }
  const last = text.slice(from, at - 1)
  const closed = depth === 0 && text.charCodeAt(at - 1) === CLOSE_ARRAY && isBlank(text.slice(at))
  if (!closed || (from > begin && isBlank(last))) throw noJson()
  yield `[${last}]`
}

const QUOTE = 0x22
const COMMA = 0x2c
const OPEN_ARRAY = 0x5b
const CLOSE_ARRAY = 0x5d
const OPEN_OBJECT = 0x7b
const CLOSE_OBJECT = 0x7d
const BACKSLASH = 0x5c

/** Where the string that begins here has its last quote; the end of the text where it has none. */
function endOfString(text: string, begin: number): number {
  for (let at = begin; ; ) {
    at = text.indexOf('"', at + 1)
    if (at === -1) return text.length
    let backslashes = 0
    while (text.charCodeAt(at - 1 - backslashes) === BACKSLASH) backslashes++
    if (backslashes % 2 === 0) return at
  }
}

const isBlank = (text: string): boolean => /^[\t\n\r ]*$/.test(text)

const noJson = () => new Failure('bad-json', 'The body is not JSON.')
