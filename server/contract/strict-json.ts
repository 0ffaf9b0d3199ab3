import { Failure } from '../failure.ts'
import { NUMBER_LENGTH } from './document.ts'
import { invariant } from './invariant.ts'
import { requireDepth } from './json-depth.ts'
import { jsonPointer } from './json-pointer.ts'

export type Json = null | boolean | number | string | Json[] | { [key: string]: Json }

/**
 * Parses JSON (RFC 8259) that must round-trip. Rejects values that JavaScript would change
 * silently: objects with a duplicate key, and numbers that a double cannot represent. Also rejects
 * numbers of more than {@link NUMBER_LENGTH} characters and values nested deeper than `DEPTH`
 * (`contract/json-depth.ts`).
 *
 * @throws Failure `bad-json` for malformed JSON; `invalid` naming the rejected key or number, with
 * its JSON Pointer.
 */
export const parseStrictly = (text: string): Json => parseAndPrint(text).value

/** Like {@link parseStrictly}; also returns the value as {@link printJson} prints it. */
export function parseAndPrint(text: string): { readonly value: Json; readonly printed: string } {
  requireDepth(text)
  let value: Json
  try {
    value = JSON.parse(text) as Json
  } catch (cause) {
    throw new Failure('bad-json', 'The body is not JSON.', { cause })
  }
  // Text that prints identically has lost nothing. Most clients send such text.
  const printed = printJson(value)
  if (printed === text) return { value, printed: text }
  scan(text)
  return { value, printed }
}

/** Prints a value without whitespace. */
export const printJson = (value: Json): string => JSON.stringify(value)

const NUMBER = /-?[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y

/** An array or object that is not closed yet. */
interface Open {
  /** The keys of an object so far; undefined for an array. */
  readonly keys: Set<string> | undefined
  /** The key or index of the current value. */
  at: string | number
}

/** Checks every key and number of a well-formed JSON text. */
function scan(text: string): void {
  const open: Open[] = []
  const field = () => jsonPointer(open.map((each) => each.at))
  let isKey = false
  for (let at = 0; at < text.length; at++) {
    const character = text[at] as string
    if (character === '{') {
      open.push({ keys: new Set(), at: '' })
      isKey = true
    } else if (character === '[') {
      open.push({ keys: undefined, at: 0 })
      isKey = false
    } else if (character === '}' || character === ']') {
      open.pop()
      isKey = false
    } else if (character === ',') {
      const last = open.at(-1)
      if (typeof last?.at === 'number') last.at++
      isKey = last?.keys !== undefined
    } else if (character === '"') {
      const end = endOfString(text, at)
      if (isKey) {
        const key = JSON.parse(text.slice(at, end + 1)) as string
        const object = open.at(-1) as Open
        object.at = key
        if (object.keys?.has(key)) {
          throw new Failure('invalid', `The key ${printJson(key.slice(0, 64))} occurs twice.`, {
            field: field(),
          })
        }
        object.keys?.add(key)
        isKey = false
      }
      at = end
    } else if (character === '-' || (character >= '0' && character <= '9')) {
      NUMBER.lastIndex = at
      const number = NUMBER.exec(text)?.[0]
      invariant(number, 'JSON.parse has accepted the number')
      if (number.length > NUMBER_LENGTH) throw tooLong(number, field())
      if (!isExact(number)) {
        throw new Failure(
          'invalid',
          `The number ${number.slice(0, 64)} cannot be stored exactly.`,
          {
            field: field(),
          },
        )
      }
      at += number.length - 1
    }
  }
}

/**
 * Returns the index of the closing quote of the string that begins here. A regular expression would
 * take stack space for each character.
 */
function endOfString(text: string, begin: number): number {
  for (let at = begin; ; ) {
    at = text.indexOf('"', at + 1)
    let backslashes = 0
    while (text[at - 1 - backslashes] === '\\') backslashes++
    if (backslashes % 2 === 0) return at
  }
}

/** Returns whether a double prints as the same decimal. A negative zero does not. */
function isExact(text: string): boolean {
  const number = Number(text)
  if (Object.is(number, -0)) return false
  return Number.isFinite(number) && decimal(text) === decimal(String(number))
}

/**
 * Normalizes a decimal: digits without leading and trailing zeros, and an exponent. `1200` becomes
 * `12e2`.
 */
function decimal(text: string): string {
  const sign = text.startsWith('-') ? '-' : ''
  const [mantissa = '', exponent = '0'] = text.slice(sign.length).toLowerCase().split('e')
  const [whole = '', fraction = ''] = mantissa.split('.')
  const digits = whole + fraction
  // A regular expression for trailing zeros would backtrack at each zero.
  let begin = 0
  let end = digits.length
  while (digits[begin] === '0') begin++
  while (end > begin && digits[end - 1] === '0') end--
  if (begin === end) return '0'
  return `${sign}${digits.slice(begin, end)}e${Number(exponent) - fraction.length + digits.length - end}`
}

function tooLong(number: string, field: string): Failure {
  const [length, limit] = [number.length, NUMBER_LENGTH].map((each) => each.toLocaleString('en'))
  return new Failure(
    'invalid',
    `The number ${number.slice(0, 64)}… has ${length} characters. A number can have at most ${limit}.`,
    { field },
  )
}
