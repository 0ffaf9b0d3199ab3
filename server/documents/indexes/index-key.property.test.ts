import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Json } from '../../contract/json/json.ts'
import type { ListedField } from '../../contract/query/field-path.ts'
import { createMatcher, parseFilter } from '../query/filter.ts'
import { compareValues, type SortValue } from '../query/order.ts'
import {
  KEY_BYTES,
  keyOfValue,
  keyOfValues,
  type RangeOperator,
  rangeOf,
  successorOf,
} from './index-key.ts'

const SPECIAL = ['', '\0', '\0\0', '\u0001', 'a', 'a\0', 'a\0b', 'a\u0001', 'ab', 'é', '\uffff']
const SURROGATES = ['\ud83d', '\ud83d\ud83d', '\udc00', '\u{1f600}', '\u{1f600}a', '\ud83da']
const text = fc.oneof(
  fc.constantFrom(...SPECIAL, ...SURROGATES),
  fc.string({ unit: 'binary', maxLength: 4 }),
  fc
    .array(fc.integer({ min: 0, max: 0xffff }), { maxLength: 3 })
    .map((units) => String.fromCharCode(...units)),
  fc
    .constantFrom('x', '\0', 'é', '\u{1f600}')
    .chain((unit) =>
      fc.integer({ min: 100, max: KEY_BYTES + 2 }).map((length) => unit.repeat(length)),
    ),
)
const number = fc.oneof(
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.constantFrom(0, -0, 1, -1, 1e308, -1e308, 5e-324, -5e-324),
  fc.integer(),
)
const value: fc.Arbitrary<SortValue> = fc.oneof(
  fc.constantFrom<SortValue>(undefined, null, true, false, [], {}, [1], { a: 1 }),
  number,
  text,
)
const isDescending = fc.boolean()
const fields = fc.integer({ min: 1, max: 8 })

/** Returns -1, 0 or 1, without a negative zero. */
const signOf = (order: number) => Math.sign(order) + 0

test('keys compare as values do', () => {
  const property = fc.property(value, value, isDescending, fields, (one, other, down, count) => {
    const [a, b] = [keyOfValue(one, down, count), keyOfValue(other, down, count)]
    const order = signOf(Buffer.compare(a.bytes, b.bytes) * (down ? -1 : 1))
    const expected = signOf(compareValues(one, other))
    if (order === 0 && a.isTruncated) expect(b.isTruncated).toBe(true)
    else expect(order).toBe(expected)
  })
  fc.assert(property, { numRuns: 500 })
})

test('keys of several fields compare by each field in turn, and fit into a row', () => {
  const row = fc.tuple(value, value, value)
  const directions = fc.tuple(isDescending, isDescending, isDescending)
  const property = fc.property(row, row, directions, (one, other, downs) => {
    const list: ListedField[] = downs.map((down) => ({ path: ['a'], isDescending: down }))
    const [a, b] = [keyOfValues(one, list), keyOfValues(other, list)]
    expect(Math.max(a.bytes.length, b.bytes.length)).toBeLessThanOrEqual(KEY_BYTES)
    if (a.isTruncated || b.isTruncated) return
    const expected = downs.reduce(
      (order, down, at) => order || compareValues(one[at], other[at]) * (down ? -1 : 1),
      0,
    )
    expect(signOf(Buffer.compare(a.bytes, b.bytes))).toBe(signOf(expected))
  })
  fc.assert(property, { numRuns: 500 })
})

test('a key is lossless unless it says so', () => {
  const property = fc.property(value, value, fields, (one, other, count) => {
    const [a, b] = [keyOfValue(one, false, count), keyOfValue(other, false, count)]
    if (!a.isLossy && a.bytes.equals(b.bytes)) expect(signOf(compareValues(one, other))).toBe(0)
  })
  fc.assert(property, { numRuns: 500 })
})

test('no key is a prefix of another', () => {
  const property = fc.property(value, value, isDescending, fields, (one, other, down, count) => {
    const [a, b] = [keyOfValue(one, down, count), keyOfValue(other, down, count)]
    if (!a.bytes.equals(b.bytes)) expect(b.bytes.subarray(0, a.bytes.length)).not.toEqual(a.bytes)
  })
  fc.assert(property, { numRuns: 500 })
})

test('a range contains the keys of all values that its operator matches, and no other type', () => {
  const operator = fc.constantFrom<RangeOperator>('lt', 'lte', 'gt', 'gte', 'starts')
  const bound = fc.oneof(
    number,
    text.filter((each) => each.isWellFormed()),
  )
  const property = fc.property(operator, bound, value, isDescending, fields, (...drawn) => {
    const [name, limit, found, down, count] = drawn
    if (name === 'starts' && typeof limit === 'number') return
    const key = keyOfValue(found, down, count)
    // The key is followed by those of other fields.
    const bytes = Buffer.concat([key.bytes, Buffer.of(1, 0xfe)])
    const { lower, upper } = rangeOf(name, limit, down, count)
    const isWithin = Buffer.compare(lower, bytes) <= 0 && Buffer.compare(bytes, upper) < 0
    const matches = createMatcher(parseFilter([[`a:${name}`, String(limit)]]))
    const isMatch = found !== undefined && matches({ a: found } as Json) === true
    const expected = isMatch && typeof found === typeof limit
    if (key.isTruncated) expect(isWithin || !expected).toBe(true)
    else expect(isWithin).toBe(expected)
  })
  fc.assert(property, { numRuns: 1_000 })
})

test('the successor of bytes follows everything that begins with them', () => {
  expect(successorOf(Buffer.of(1, 2))).toEqual(Buffer.of(1, 3))
  expect(successorOf(Buffer.of(1, 0xff))).toEqual(Buffer.of(2))
  expect(successorOf(Buffer.of())).toEqual(Buffer.of(0xff))
})
