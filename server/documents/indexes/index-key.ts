import type { Json } from '../../contract/json/json.ts'
import { type ListedField, valueAt } from '../../contract/query/field-path.ts'
import type { SortValue } from '../query/order.ts'

/**
 * Maximum size of a key, bytes. The fields of an index share it equally, and longer strings are
 * truncated. PostgreSQL limits the key and the id of a row to about 2,700 bytes in total. An id can
 * take 1,024 of them.
 */
export const KEY_BYTES = 1_200

/** The type of a value: the first byte of its key, in the order of values. */
const TYPES = {
  missing: 1,
  null: 2,
  false: 3,
  true: 4,
  number: 5,
  string: 6,
  composite: 7,
} as const

/** A string ends with a zero byte and one of these. In a string, a zero byte precedes `escaped`. */
const END = { complete: 1, truncated: 2, escaped: 0xff } as const

/** The type and the end of a string, bytes. */
const STRING_OVERHEAD = 3

/** The key of the values of an index's fields, or of one of them. */
export interface IndexKey {
  readonly bytes: Buffer
  /**
   * Whether different values can have this key, because one of them is a truncated string or an
   * array or object.
   */
  readonly isLossy: boolean
  /**
   * Whether a string is truncated. The order of documents with the same truncated key is unknown.
   */
  readonly isTruncated: boolean
}

/**
 * Returns the key of one value. Keys compare byte by byte as `compareValues` (`query/order.ts`)
 * compares values. No key is a prefix of another, so keys of several fields can be joined.
 *
 * @param fields the number of fields of the index.
 */
export function keyOfValue(value: SortValue, isDescending: boolean, fields: number): IndexKey {
  const { bytes, isTruncated } = encode(value, Math.floor(KEY_BYTES / fields) - STRING_OVERHEAD)
  const isLossy = isTruncated || bytes[0] === TYPES.composite
  return { bytes: isDescending ? invert(bytes) : bytes, isLossy, isTruncated }
}

/**
 * Returns the key of values, one for each field.
 *
 * @param count the number of fields of the index, if these are not all of them.
 */
export function keyOfValues(
  values: readonly SortValue[],
  fields: readonly ListedField[],
  count = fields.length,
): IndexKey {
  const keys = fields.map(({ isDescending }, at) => keyOfValue(values[at], isDescending, count))
  return {
    bytes: Buffer.concat(keys.map(({ bytes }) => bytes)),
    isLossy: keys.some(({ isLossy }) => isLossy),
    isTruncated: keys.some(({ isTruncated }) => isTruncated),
  }
}

/** Returns whether a string may be truncated in a key of this length; false for most keys. */
export const mayBeTruncated = (length: number, fields: number): boolean =>
  // An escaped zero is not split, so a truncated string can be a byte shorter than its share.
  length >= Math.floor(KEY_BYTES / fields) - 1

/** Returns the values of an index's fields. */
export const valuesOf = (document: Json, fields: readonly ListedField[]): SortValue[] =>
  fields.map(({ path }) => valueAt(document, path))

/** The keys from `lower` on, and below `upper`. */
export interface KeyRange {
  readonly lower: Buffer
  readonly upper: Buffer
}

/** Operators that match a range of numbers or of strings. */
export type RangeOperator = 'lt' | 'lte' | 'gt' | 'gte' | 'starts'

/**
 * Returns the range of the keys of numbers or strings that an operator matches. It includes all
 * strings with the same truncated key.
 */
export function rangeOf(
  operator: RangeOperator,
  value: number | string,
  isDescending: boolean,
  fields: number,
): KeyRange {
  const { bytes, isTruncated } = keyOfValue(value, false, fields)
  const type = bytes[0] ?? 0
  const [first, end] = [Buffer.of(type), Buffer.of(type + 1)]
  const after = successorOf(bytes)
  const ranges: Record<RangeOperator, () => KeyRange> = {
    lt: () => ({ lower: first, upper: isTruncated ? after : bytes }),
    lte: () => ({ lower: first, upper: after }),
    gt: () => ({ lower: isTruncated ? bytes : after, upper: end }),
    gte: () => ({ lower: bytes, upper: end }),
    starts() {
      // The strings that continue it differ from its key in the two bytes that end it.
      const prefix = isTruncated ? bytes : bytes.subarray(0, -2)
      return { lower: prefix, upper: successorOf(prefix) }
    },
  }
  const { lower, upper } = ranges[operator]()
  if (!isDescending) return { lower, upper }
  // A range includes keys that begin with its lower bound, and excludes those that begin with its
  // upper one.
  return { lower: successorOf(invert(upper)), upper: successorOf(invert(lower)) }
}

/** Returns the smallest bytes that are greater than all bytes that begin with `bytes`. */
export function successorOf(bytes: Buffer): Buffer {
  let last = bytes.length - 1
  while (bytes[last] === 0xff) last--
  // No key begins with 0xff, so this is greater than all keys.
  if (last === -1) return Buffer.of(0xff)
  const next = Buffer.allocUnsafe(last + 1)
  bytes.copy(next, 0, 0, last + 1)
  next[last] = (next[last] ?? 0) + 1
  return next
}

const constant = (type: number) => ({ bytes: Buffer.of(type), isTruncated: false })
const MISSING = constant(TYPES.missing)
const NULL = constant(TYPES.null)
const FALSE = constant(TYPES.false)
const TRUE = constant(TYPES.true)
const COMPOSITE = constant(TYPES.composite)

function encode(value: SortValue, limit: number): Omit<IndexKey, 'isLossy'> {
  if (typeof value === 'string') return encodeString(value, limit)
  if (typeof value === 'number') return { bytes: encodeNumber(value), isTruncated: false }
  if (value === undefined) return MISSING
  if (value === null) return NULL
  if (typeof value === 'boolean') return value ? TRUE : FALSE
  return COMPOSITE
}

/** Returns the IEEE 754 bits of a number, changed so that they compare as the numbers do. */
function encodeNumber(value: number): Buffer {
  const bytes = Buffer.allocUnsafe(9)
  bytes[0] = TYPES.number
  // The addition turns a negative zero into a positive one.
  bytes.writeDoubleBE(value + 0, 1)
  const sign = bytes[1] ?? 0
  if (sign < 0x80) bytes[1] = sign | 0x80
  else for (let at = 1; at < 9; at++) bytes[at] = ~(bytes[at] ?? 0)
  return bytes
}

function encodeString(value: string, limit: number): Omit<IndexKey, 'isLossy'> {
  // A character takes at least a byte. One more shows whether the limit is exceeded.
  const text = value.slice(0, limit + 2)
  const utf8 = text.isWellFormed() ? Buffer.from(text) : encodeIllFormed(text)
  const escaped = utf8.includes(0) ? escapeZeros(utf8) : utf8
  const isTruncated = escaped.length > limit
  const end = isTruncated ? endWithin(escaped, limit) : escaped.length
  const bytes = Buffer.allocUnsafe(end + STRING_OVERHEAD)
  bytes[0] = TYPES.string
  escaped.copy(bytes, 1, 0, end)
  bytes[end + 1] = 0
  bytes[end + 2] = isTruncated ? END.truncated : END.complete
  return { bytes, isTruncated }
}

/** Returns where to truncate, so that no escaped zero is split. */
function endWithin(escaped: Buffer, limit: number): number {
  return escaped[limit - 1] === 0 ? limit - 1 : limit
}

function escapeZeros(bytes: Buffer): Buffer {
  const escaped: number[] = []
  for (const byte of bytes) {
    escaped.push(byte)
    if (byte === 0) escaped.push(END.escaped)
  }
  return Buffer.from(escaped)
}

/**
 * Encodes a text with lone surrogates, in the order of `compareCodePoints`: a lone high surrogate
 * precedes all pairs that begin with it, and a lone low one follows all pairs.
 */
function encodeIllFormed(text: string): Buffer {
  const parts: Buffer[] = []
  for (const character of text) {
    const unit = character.charCodeAt(0)
    if (character.length === 2 || unit < 0xd800 || unit > 0xdfff) {
      parts.push(Buffer.from(character))
    } else if (unit < 0xdc00) {
      const firstPair = Buffer.from(`${character}\udc00`)
      parts.push(firstPair.subarray(0, 3), Buffer.of(0x7f))
    } else {
      parts.push(Buffer.of(0xf8, (unit >> 8) & 0xff, unit & 0xff))
    }
  }
  return Buffer.concat(parts)
}

function invert(bytes: Buffer): Buffer {
  const inverted = Buffer.allocUnsafe(bytes.length)
  for (let at = 0; at < bytes.length; at++) inverted[at] = ~(bytes[at] ?? 0)
  return inverted
}
