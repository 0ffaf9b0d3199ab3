import { invariant } from '../contract/invariant.ts'
import {
  CLOSE_ARRAY,
  CLOSE_OBJECT,
  COMMA,
  type Json,
  OPEN_ARRAY,
  OPEN_OBJECT,
  QUOTE,
} from '../contract/json/json.ts'
import { endOfString, keyOf, parseJson } from '../contract/json/parse-json.ts'
import { Failure } from '../failure.ts'

/**
 * Reads the fields of an object in the text of a stored document, without parsing their values.
 * Objects that are read within others take linear time, too.
 *
 * @param json as `printJson` prints it.
 * @param begin index of the opening bracket.
 * @param read called with the name of each field in order, and the indexes at which the field and
 * its value begin. Returns the index after the value, such as {@link endOfValue}. The name may be a
 * slice of the text and keep it in memory.
 * @returns the index after the object.
 */
export function readFields(
  json: string,
  begin: number,
  read: (name: string, field: number, value: number) => number,
): number {
  let at = begin + 1
  while (json.charCodeAt(at) === QUOTE) {
    const keyEnd = closingQuote(json, at)
    at = read(keyOf(json, at, keyEnd), at, keyEnd + 2)
    if (json.charCodeAt(at) === COMMA) at++
  }
  invariant(json.charCodeAt(at) === CLOSE_OBJECT, 'a stored document has no whitespace')
  return at + 1
}

/**
 * Returns what a function reads from the text of a stored document; undefined if the text is not
 * JSON, because the disk is damaged. Throws the failures of the function.
 */
export function ifReadable<T>(read: () => T): T | undefined {
  try {
    return read()
  } catch (error) {
    if (error instanceof Failure) throw error
    return undefined
  }
}

function closingQuote(json: string, begin: number): number {
  const end = endOfString(json, begin)
  invariant(end !== -1, 'a stored string has an end')
  return end
}

/** Returns the index of the character after the value of a field. */
export function endOfValue(json: string, begin: number): number {
  let depth = 0
  for (let at = begin; at < json.length; at++) {
    const code = json.charCodeAt(at)
    if (code === QUOTE) at = closingQuote(json, at)
    else if (code === OPEN_OBJECT || code === OPEN_ARRAY) depth++
    else if (depth === 0 && (code === COMMA || code === CLOSE_OBJECT)) return at
    else if (code === CLOSE_OBJECT || code === CLOSE_ARRAY) depth--
  }
  return json.length
}

/** Documents of up to this many characters are parsed whole. */
const PARSED_WHOLE = 16 * 1024

/**
 * Parses a document, or only the fields with these names if it is large. A document of 1 MiB can
 * contain hundreds of thousands of objects. They take much longer to create, and to collect as
 * garbage, than their text takes to skip.
 *
 * @param body as `printJson` prints it.
 * @returns undefined if the text is not JSON, because the disk is damaged.
 */
export function parseFields(body: string, names: ReadonlySet<string>): Json | undefined {
  try {
    if (body.length <= PARSED_WHOLE) return parseJson(body)
    const fields: [string, Json][] = []
    readFields(body, 0, (name, _, begin) => {
      const end = endOfValue(body, begin)
      if (names.has(name)) fields.push([name, parseJson(body.slice(begin, end))])
      return end
    })
    // From entries, so that "__proto__" is an ordinary name.
    return Object.fromEntries(fields)
  } catch {
    return undefined
  }
}
