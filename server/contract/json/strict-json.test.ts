import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { NUMBER_LENGTH } from '../document.ts'
import { DEPTH } from './json-limits.ts'
import { parseStrictly, printJson } from './strict-json.ts'

/** Returns whether a double prints as the same decimal, by exact arithmetic. */
function isSameDecimal(text: string): boolean {
  const number = Number(text)
  if (Object.is(number, -0) || !Number.isFinite(number)) return false
  const [a, b] = [toFraction(text), toFraction(String(number))]
  return a.numerator * b.denominator === b.numerator * a.denominator
}

function toFraction(text: string): { numerator: bigint; denominator: bigint } {
  const [mantissa = '', exponent = '0'] = text.split('e')
  const [whole = '', fraction = ''] = mantissa.split('.')
  const power = Number(exponent) - fraction.length
  const numerator = BigInt(whole + fraction)
  return power < 0
    ? { numerator, denominator: 10n ** BigInt(-power) }
    : { numerator: numerator * 10n ** BigInt(power), denominator: 1n }
}

describe('parseStrictly', () => {
  it.each([
    '{"a":1,"b":[true,false,null,"x"]}',
    ' { "a" : 1.50 , "b" : 1e3, "c": -0.1, "d": 100 } ',
    '{"__proto__":{"a":1},"constructor":2}',
    '{"a":"\\ud800","b":"\\u0000","c":"\\"}{,:"}',
    '{"a":{"b":1},"c":{"b":1},"d":[{"b":1},{"b":2}]}',
    '{"n":9007199254740991,"m":-1.7976931348623157e308,"k":5e-324,"z":0.0,"y":0e5}',
    '{"0.10":0.10}',
    '[]',
    '"text"',
  ])('keeps %s', (text) => {
    expect(printJson(parseStrictly(text))).toBe(JSON.stringify(JSON.parse(text)))
  })

  it.each([
    ['{"a":1,"a":1}', '"a"', '/a'],
    ['{"a":1, "\\u0061":2}', '"a"', '/a'],
    ['[{"x":{"b":1,"c":2,"b":3}}]', '"b"', '/0/x/b'],
    ['[[1,[2]],{"a/b":{"~":[{},{"c":1,"c":1}]}}]', '"c"', '/1/a~1b/~0/1/c'],
    ['{"__proto__":1,"__proto__":2}', '"__proto__"', '/__proto__'],
    ['{"a":[1,{"b":1}],"c":{},"":0,"":0}', '""', '/'],
    ['[{"a":1},{"a":1},{"a":1,"b":[],"c":{"a":1},"b":2}]', '"b"', '/2/b'],
  ])('rejects %s, which has a duplicate key, with its pointer', (text, key, field) => {
    expect(() => parseStrictly(text)).toThrow(
      expect.objectContaining({
        message: `The key ${key} occurs twice.`,
        details: { field },
      }),
    )
  })

  it.each([
    '9007199254740993',
    '1e400',
    '-1e400',
    '0.12345678901234567890',
    '1e-400',
    '12345678901234567890',
    '-0',
    '-0.0e1',
  ])('rejects the number %s, which does not round-trip', (number) => {
    expect(() => parseStrictly(`{"n":${number}}`)).toThrow(`The number ${number}`)
    expect(() => parseStrictly(`{"n": [1, ${number}]}`)).toThrow(
      expect.objectContaining({
        message: expect.stringContaining('cannot be stored exactly'),
        details: { field: '/n/1' },
      }),
    )
  })

  it('keeps exactly the numbers whose double prints as the same decimal', () => {
    const digits = fc.string({
      unit: fc.constantFrom(...'0123456789'),
      minLength: 1,
      maxLength: 20,
    })
    const exponent = fc.integer({ min: -330, max: 330 }).map((each) => `e${each}`)
    const number = fc
      .tuple(
        fc.constantFrom('', '-'),
        digits.map((each) => each.replace(/^0+(?=.)/, '')),
        fc.option(
          digits.map((each) => `.${each}`),
          { nil: '' },
        ),
        fc.option(exponent, { nil: '' }),
      )
      .map((parts) => parts.join(''))
    fc.assert(
      fc.property(number, (text) => {
        const isKept = () => {
          try {
            return parseStrictly(`[ ${text} ]`) !== undefined
          } catch {
            return false
          }
        }
        expect({ text, isKept: isKept() }).toEqual({ text, isKept: isSameDecimal(text) })
      }),
      { numRuns: 2_000, examples: [['-0e5'], ['999999999999999'], ['0.00000000000001e-99']] },
    )
  })

  it('keeps a number of 1,000 characters and rejects a longer one', () => {
    const longest = `0.1${'0'.repeat(NUMBER_LENGTH - 3)}`
    expect(printJson(parseStrictly(`{"n":${longest}}`))).toBe('{"n":0.1}')
    expect(() => parseStrictly(`{"n":${longest}0}`)).toThrow(
      `The number ${longest.slice(0, 64)}… has 1,001 characters. A number can have at most 1,000.`,
    )
  })

  it.each(['0.1', '-1e', '1.0'])('rejects 256 KiB of zeros after %s by their number', (begin) => {
    const text = `{"n": ${begin}${'0'.repeat(256 * 1024)}1}`
    expect(() => parseStrictly(text)).toThrow('A number can have at most 1,000.')
  })

  it.each(['', '{', '{"a":}', "{'a':1}", '{"a":01}', 'NaN', '{"a":1}x'])(
    'rejects %j, which is not JSON',
    (text) => {
      expect(() => parseStrictly(text)).toThrow(expect.objectContaining({ code: 'bad-json' }))
    },
  )

  it('keeps 100 levels of nesting and rejects more', () => {
    const nested = (depth: number) => '['.repeat(depth) + ']'.repeat(depth)
    expect(printJson(parseStrictly(nested(DEPTH)))).toBe(nested(DEPTH))
    for (const text of [nested(DEPTH + 1), nested(200_000), '{"a":'.repeat(200_000)]) {
      expect(() => parseStrictly(text)).toThrow('JSON can be nested at most 100 levels deep.')
    }
  })

  it('parses a text of the maximum request size', () => {
    const text = `[ {"a":"${'\\n'.repeat(8 * 1024 * 1024)}"}, {"b":1,"b":2} ]`
    expect(() => parseStrictly(text)).toThrow('The key "b" occurs twice.')
  })

  it('keeps every JSON value with any whitespace', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.constantFrom(undefined, 1, '\t'), (value, space) => {
        const text = JSON.stringify(value, null, space)
        expect(parseStrictly(text)).toEqual(JSON.parse(text))
      }),
      { numRuns: 500 },
    )
  })
})
