import { describe, expect, it } from 'vitest'
import { arrayParts, isArrayText } from './array-parts.ts'

/** Parses every part, as the documents do, and puts them together. */
const joined = (text: string) => [...arrayParts(text)].flatMap((part) => JSON.parse(part))

describe('arrayParts', () => {
  it.each([
    '[]',
    ' [ ] ',
    '[1]',
    '[[1,[2,{"a":[3]}]],{"b":"]"},"\\"]","\\\\",""]\n',
    '[{"a":"x\\\\\\"],["},{}]',
  ])('keeps the elements of %s', (text) => {
    expect(joined(text)).toEqual(JSON.parse(text))
  })

  it('cuts by number and by length, and loses nothing between the parts', () => {
    const many = Array.from({ length: 1_001 }, (_, n) => ({ n, text: `,"${n}[` }))
    const parts = [...arrayParts(JSON.stringify(many))]
    expect(parts.length).toBeGreaterThan(4)
    expect(joined(JSON.stringify(many))).toEqual(many)
    const long = Array.from({ length: 10 }, (_, n) => `${n}`.repeat(100_000))
    expect([...arrayParts(JSON.stringify(long))].length).toBe(5)
    expect(joined(JSON.stringify(long))).toEqual(long)
  })

  it.each([
    '[',
    '[1',
    '[1,]',
    '[,1]',
    '[1,,2]',
    '[1}',
    '[1]]',
    '[1],[2]',
    '[{]}',
    '["a]',
    '[1] x',
    `[${'1,'.repeat(250)}]`,
    `[${'1,'.repeat(250)},1]`,
    `[${'1,'.repeat(249)},1]`,
  ])('is no JSON where the whole is none: %s', (text) => {
    expect(() => JSON.parse(text)).toThrow()
    expect(() => joined(text)).toThrow()
  })
})

describe('isArrayText', () => {
  it('tells by the first character that means something', () => {
    expect(isArrayText(' \r\n\t[')).toBe(true)
    expect(isArrayText('{"a":[]}')).toBe(false)
    expect(isArrayText('')).toBe(false)
  })
})
