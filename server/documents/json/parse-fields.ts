import { invariant } from '../../contract/invariant.ts'
import type { Json } from '../../contract/json/json.ts'
import {
  CLOSE_ARRAY,
  CLOSE_OBJECT,
  COMMA,
  OPEN_ARRAY,
  OPEN_OBJECT,
  QUOTE,
} from '../../contract/json/json-characters.ts'
import { endOfString, keyOf, parseJson } from '../../contract/json/parse-json.ts'

/** Documents of up to this many characters are parsed whole. */
const PARSED_WHOLE = 16 * 1024

/**
 * Parses a document, or only the fields with these names if it is large. A document of 1 MiB can
 * contain hundreds of thousands of objects. They take much longer to create, and to collect as
 * garbage, than their text takes to skip.
 *
 * @param body as `printJson` prints it.
 */
export function parseFields(body: string, names: ReadonlySet<string>): Json {
  if (body.length <= PARSED_WHOLE) return parseJson(body)
  const fields: [string, Json][] = []
  let at = 1
  while (body.charCodeAt(at) === QUOTE) {
    const keyEnd = endOfString(body, at)
    const name = keyOf(body, at, keyEnd)
    const begin = keyEnd + 2
    const end = endOfValue(body, begin)
    if (names.has(name)) fields.push([name, parseJson(body.slice(begin, end))])
    at = end + 1
  }
  invariant(at === body.length, 'a stored document has no whitespace')
  // From entries, so that "__proto__" is an ordinary name.
  return Object.fromEntries(fields)
}

/** Returns the index of the character after the value of a field. */
function endOfValue(body: string, begin: number): number {
  let depth = 0
  for (let at = begin; at < body.length; at++) {
    const code = body.charCodeAt(at)
    if (code === QUOTE) at = endOfString(body, at)
    else if (code === OPEN_OBJECT || code === OPEN_ARRAY) depth++
    else if (depth === 0 && (code === COMMA || code === CLOSE_OBJECT)) return at
    else if (code === CLOSE_OBJECT || code === CLOSE_ARRAY) depth--
  }
  return body.length
}
