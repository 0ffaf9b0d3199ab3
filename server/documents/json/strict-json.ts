import { NUMBER_LENGTH } from '../contract/document.ts'
import { requireDepth } from '../contract/json-depth.ts'
import { Failure } from '../failure.ts'

/** A JSON value. */
export type Json = null | boolean | number | string | Json[] | { [key: string]: Json }

/**
 * Parses JSON (RFC 8259) that must come back equal to what was sent. What JavaScript would change
 * silently is refused: an object with a key twice, of which only the last would stay, and a number
 * that a double cannot hold. Numbers of more than {@link NUMBER_LENGTH} characters are rejected too,
 * and what is nested deeper than `DEPTH` (`contract/json-depth.ts`).
 *
 * @throws Failure `bad-json` where the text is no JSON; `invalid` naming what would not come back.
 */
export function parseStrictly(text: string): Json {
  requireDepth(text)
  let value: Json
  try {
    value = JSON.parse(text) as Json
  } catch (cause) {
    throw new Failure('bad-json', 'The body is not JSON.', { cause })
  }
  // What prints as it was written has lost nothing; most clients send just that.
  if (printJson(value) !== text) scan(text)
  return value
}

/** Prints a value without spaces. */
export const printJson = (value: Json): string => JSON.stringify(value)

const NUMBER = /-?[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y

/** Looks at every key and number of a text that is known to be JSON. */
function scan(text: string): void {
  // For each open object the keys so far; for each open array, none.
  const open: (Set<string> | undefined)[] = []
  let isKey = false
  for (let at = 0; at < text.length; at++) {
    const character = text[at] as string
    if (character === '{') {
      open.push(new Set())
      isKey = true
    } else if (character === '[') {
      open.push(undefined)
      isKey = false
    } else if (character === '}' || character === ']') {
      open.pop()
      isKey = false
    } else if (character === ',') {
      isKey = open.at(-1) !== undefined
    } else if (character === '"') {
      const end = endOfString(text, at)
      if (isKey) {
        const key = JSON.parse(text.slice(at, end + 1)) as string
        const keys = open.at(-1)
        if (keys?.has(key)) {
          throw new Failure('invalid', `The key ${printJson(key.slice(0, 64))} stands twice.`)
        }
        keys?.add(key)
        isKey = false
      }
      at = end
    } else if (character === '-' || (character >= '0' && character <= '9')) {
      NUMBER.lastIndex = at
      const number = NUMBER.exec(text)?.[0] ?? ''
      if (number.length > NUMBER_LENGTH) throw tooLong(number)
      if (!isExact(number)) {
        throw new Failure('invalid', `The number ${number.slice(0, 64)} cannot be kept exactly.`)
      }
      at += number.length - 1
    }
  }
}

/** Where the string that begins here has its last quote. A pattern takes room on the stack for each character. */
function endOfString(text: string, begin: number): number {
  for (let at = begin; ; ) {
    at = text.indexOf('"', at + 1)
    let backslashes = 0
    while (text[at - 1 - backslashes] === '\\') backslashes++
    if (backslashes % 2 === 0) return at
  }
}

/** Whether a double prints as the same decimal that was written; a zero loses its sign. */
function isExact(text: string): boolean {
  const number = Number(text)
  if (Object.is(number, -0)) return false
  return Number.isFinite(number) && decimal(text) === decimal(String(number))
}

/** A decimal as its digits without zeros at either end, and its exponent: `1200` is `12e2`. */
function decimal(text: string): string {
  const sign = text.startsWith('-') ? '-' : ''
  const [mantissa = '', exponent = '0'] = text.slice(sign.length).toLowerCase().split('e')
  const [whole = '', fraction = ''] = mantissa.split('.')
  const digits = whole + fraction
  // A pattern for the zeros at the end would begin again at each zero.
  let begin = 0
  let end = digits.length
  while (digits[begin] === '0') begin++
  while (end > begin && digits[end - 1] === '0') end--
  if (begin === end) return '0'
  return `${sign}${digits.slice(begin, end)}e${Number(exponent) - fraction.length + digits.length - end}`
}

function tooLong(number: string): Failure {
  const [length, most] = [number.length, NUMBER_LENGTH].map((each) => each.toLocaleString('en'))
  return new Failure(
    'invalid',
    `The number ${number.slice(0, 64)}… has ${length} characters. A number has at most ${most}.`,
  )
}
