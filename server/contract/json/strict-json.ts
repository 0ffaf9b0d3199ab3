import { Failure } from '../../failure.ts'
import {
  CLOSE_ARRAY,
  CLOSE_OBJECT,
  COMMA,
  type Json,
  jsonPointer,
  MINUS,
  OPEN_ARRAY,
  OPEN_OBJECT,
  QUOTE,
} from './json.ts'
import { requireJsonLimits } from './json-limits.ts'
import { checkNumber, isDigit } from './json-number.ts'
import { endOfString, keyOf, parseJson } from './parse-json.ts'

/**
 * Parses JSON (RFC 8259) that must round-trip. Rejects values that JavaScript would change
 * silently: objects with a duplicate key, and numbers that a double cannot represent. Also rejects
 * numbers of more than `NUMBER_LENGTH` characters (`contract/document.ts`) and values nested deeper
 * than `DEPTH`, with more objects and arrays than `STRUCTURES`, or with an object of more keys than
 * `KEYS` (`contract/json/json-limits.ts`).
 *
 * @throws Failure `bad-json` for malformed JSON; `invalid` naming the rejected key or number, with
 * its JSON Pointer.
 */
export const parseStrictly = (text: string): Json => parseAndPrint(text).value

/** A value with its text as {@link printJson} prints it. */
export interface Parsed {
  readonly value: Json
  readonly printed: string
}

/** Like {@link parseStrictly}; also returns the printed value. */
export function parseAndPrint(text: string): Parsed {
  requireJsonLimits(text)
  let value: Json
  try {
    value = parseJson(text)
  } catch (cause) {
    throw notJson(text, cause)
  }
  const printed = printJson(value)
  // Text that prints identically has lost nothing. Most clients send such text.
  if (printed !== text) requireLossless(text)
  return { value, printed }
}

/** Returns the failure of a body that is not JSON. */
export const notJson = (text: string, cause: unknown): Failure =>
  new Failure('bad-json', `The body ${whyNotJson(text)}.`, { cause })

function whyNotJson(text: string): string {
  if (text.startsWith('\ufeff')) return 'must be JSON without a byte order mark'
  return text.trim() === '' ? 'is empty. It must be JSON' : 'is not JSON'
}

/** Prints a value without whitespace. */
export const printJson = (value: Json): string => JSON.stringify(value)

/** An array or object that is not closed yet. */
interface Open {
  readonly isObject: boolean
  /** The index of the current value, of an array. */
  index: number
  /** The key of the current value, of an object. */
  key: string | undefined
  /** All keys so far. Undefined until there are two, because many objects have only one. */
  keys: Set<string> | undefined
}

/**
 * Checks every key and number of a well-formed JSON text, in linear time.
 *
 * @throws Failure `invalid`
 */
function requireLossless(text: string): void {
  const open: Open[] = []
  const field = () =>
    jsonPointer(open.map(({ isObject, key = '', index }) => (isObject ? key : index)))
  let current: Open | undefined
  let isKey = false
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === QUOTE) {
      const end = endOfString(text, at)
      if (isKey && current !== undefined) {
        const key = keyOf(text, at, end)
        if (!addKey(current, key)) {
          throw new Failure('invalid', `The key ${printJson(key.slice(0, 64))} occurs twice.`, {
            field: field(),
          })
        }
        isKey = false
      }
      at = end
    } else if (code === MINUS || isDigit(code)) {
      at = checkNumber(text, at, field) - 1
    } else if (code === COMMA) {
      isKey = current?.isObject === true
      if (current !== undefined) current.index++
    } else if (code === OPEN_OBJECT || code === OPEN_ARRAY) {
      isKey = code === OPEN_OBJECT
      current = { isObject: isKey, index: 0, key: undefined, keys: undefined }
      open.push(current)
    } else if (code === CLOSE_OBJECT || code === CLOSE_ARRAY) {
      open.pop()
      current = open.at(-1)
      isKey = false
    }
  }
}

/** Makes a key the current one of its object. Returns whether it is the first one with its name. */
function addKey(object: Open, key: string): boolean {
  const first = object.key
  object.key = key
  if (first === undefined) return true
  object.keys ??= new Set([first])
  if (object.keys.has(key)) return false
  object.keys.add(key)
  return true
}
