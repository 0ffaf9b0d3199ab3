import { Failure } from '../../failure.ts'
import { NUMBER_LENGTH } from '../document.ts'
import { DOT, MINUS, NINE, PLUS, ZERO } from './json.ts'

const LOWER_E = 0x65
const UPPER_E = 0x45

/**
 * Number of digits of a decimal that every double from {@link SMALLEST_NORMAL} on holds exactly
 * (`DBL_DIG`, ISO C section 5.2.4.2.2). A double prints as the shortest decimal that identifies it,
 * which is this one.
 */
const EXACT_DIGITS = 15

/** The smallest double with full precision (`DBL_MIN`). */
const SMALLEST_NORMAL = 2 ** -1022

/** Number of digits of an exponent with which a double has its full precision. */
const EXPONENT_DIGITS = 2

export const isDigit = (code: number): boolean => code >= ZERO && code <= NINE

/**
 * Checks the number that begins at an index of a well-formed JSON text. Returns the index of its
 * end.
 *
 * @param field returns the JSON Pointer of the number.
 * @throws Failure `invalid` for more than {@link NUMBER_LENGTH} characters, and for a number that
 * a double cannot represent.
 */
export function checkNumber(text: string, begin: number, field: () => string): number {
  const isNegative = text.charCodeAt(begin) === MINUS
  let digits = 0
  let exponentDigits = 0
  let isZero = true
  let inExponent = false
  let end = isNegative ? begin + 1 : begin
  for (; end < text.length; end++) {
    const code = text.charCodeAt(end)
    if (!isDigit(code)) {
      if (code === LOWER_E || code === UPPER_E) inExponent = true
      else if (code !== DOT && code !== PLUS && code !== MINUS) break
    } else if (inExponent) {
      exponentDigits++
    } else {
      digits++
      if (code !== ZERO) isZero = false
    }
  }
  if (end - begin > NUMBER_LENGTH) throw tooLong(text.slice(begin, end), field())
  const isShort = digits <= EXACT_DIGITS && exponentDigits <= EXPONENT_DIGITS
  if (isShort && !(isNegative && isZero)) return end
  const number = text.slice(begin, end)
  if (isExact(number, digits)) return end
  throw new Failure('invalid', `The number ${number.slice(0, 64)} cannot be stored exactly.`, {
    field: field(),
  })
}

/** Returns whether a double prints as the same decimal. A negative zero does not. */
function isExact(text: string, digits: number): boolean {
  const number = Number(text)
  if (Object.is(number, -0) || !Number.isFinite(number)) return false
  if (digits <= EXACT_DIGITS && Math.abs(number) >= SMALLEST_NORMAL) return true
  const printed = String(number)
  return printed === text || decimal(text) === decimal(printed)
}

/**
 * Normalizes a decimal: digits without leading and trailing zeros, and an exponent. `1200` becomes
 * `12e2`. Its sign is dropped.
 */
function decimal(text: string): string {
  let first = -1
  let last = -1
  let point = -1
  let end = 0
  for (; end < text.length; end++) {
    const code = text.charCodeAt(end)
    if (code === DOT) {
      point = end
    } else if (isDigit(code)) {
      if (code === ZERO) continue
      if (first === -1) first = end
      last = end
    } else if (code !== MINUS) {
      break
    }
  }
  if (first === -1) return '0'
  const ones = (point === -1 ? end : point) - 1
  const exponent = Number(text.slice(end + 1)) + (last <= ones ? ones - last : ones + 1 - last)
  const hasPoint = first < point && point < last
  const digits = hasPoint
    ? text.slice(first, point) + text.slice(point + 1, last + 1)
    : text.slice(first, last + 1)
  return `${digits}e${exponent}`
}

function tooLong(number: string, field: string): Failure {
  const [length, limit] = [number.length, NUMBER_LENGTH].map((each) => each.toLocaleString('en'))
  return new Failure(
    'invalid',
    `The number ${number.slice(0, 64)}… has ${length} characters. A number can have at most ${limit}.`,
    { field },
  )
}
