import fc from 'fast-check'
import { describe, expect, it, test } from 'vitest'
import type { Json } from '../../contract/json/json.ts'
import { printJson } from '../../contract/json/strict-json.ts'
import { printFieldPath } from '../../contract/query/field-path.ts'
import { createMatcher, type Filter, OPERATORS, parseFilter, requiredTexts } from './filter.ts'

const documents: Record<string, Json> = {
  number: { v: 5 },
  text: { v: '5' },
  word: { v: 'sea' },
  null: { v: null },
  yes: { v: true },
  list: { v: ['sea', 5, { a: 1 }] },
  object: { v: { name: 'ada', 'a.b': 1 } },
  none: {},
}

const matcherOf = (filter: Filter, now?: () => number) => createMatcher(parseFilter(filter), now)

/** Returns the names of the documents that a filter selects. */
const select = (name: string, value: string): string[] => {
  const matches = matcherOf([[name, value]])
  return Object.keys(documents).filter((each) => matches(documents[each] as Json))
}
const all = Object.keys(documents)

describe('createMatcher', () => {
  it.each<[string, string, readonly string[]]>([
    ['v', '5', ['number', 'text']],
    ['v:eq', '5', ['number', 'text']],
    ['v', 'null', ['null']],
    ['v', '["sea",5,{"a":1}]', ['list']],
    ['v', '5.0', []],
    ['v:ne', '5', all.filter((name) => name !== 'number' && name !== 'text')],
    ['v:lt', '6', ['number', 'text']],
    ['v:lt', '10', ['number']],
    ['v:lte', '5', ['number', 'text']],
    ['v:gt', '4', ['number', 'text', 'word']],
    ['v:gte', 'sea', ['word']],
    ['v:gt', 'a', ['word']],
    ['v:in', 'sea,5', ['number', 'text', 'word']],
    ['v:in', 'sea\\,5', []],
    ['v:in', 'null,true,5.0', ['null', 'yes']],
    ['v:in', 'undefined,[object Object]', []],
    ['v:exists', 'false', ['none']],
    ['v:exists', 'true', all.filter((name) => name !== 'none')],
    ['v:starts', 'se', ['word']],
    ['v:starts', '', ['text', 'word']],
    ['v:contains', 'ea', ['word']],
    ['v:contains', 'sea', ['word', 'list']],
    ['v:contains', '5', ['text', 'list']],
    ['v:contains', '{"a":1}', ['list']],
    ['v.name', 'ada', ['object']],
    ['v.a\\.b', '1', ['object']],
    ['v.length:exists', 'true', []],
    ['v.0', 'sea', []],
    ['toString:exists', 'true', []],
  ])('%s=%s', (name, value, expected) => {
    expect(select(name, value)).toEqual(expected)
  })

  it('compares strings by code point', () => {
    const matches = matcherOf([['v:lt', '\u{1f600}']])
    expect(matches({ v: '\uffff' })).toBe(true)
    expect(matches({ v: '\u{1f601}' })).toBe(false)
  })

  it('requires all conditions, also several of one field', () => {
    const matches = matcherOf([
      ['v:gt', '1'],
      ['v:lt', '5'],
    ])
    expect([1, 2, 5].filter((v) => matches({ v }))).toEqual([2])
    expect(
      matcherOf([
        ['v', 'a'],
        ['v', 'b'],
      ])({ v: 'a' }),
    ).toBe(false)
  })

  it('compares arrays and objects by their JSON, in the order of its keys', () => {
    const value = { a: [1, { b: null }], __proto: 'x' }
    const text = JSON.stringify(value)
    expect(matcherOf([['v', text]])({ v: value })).toBe(true)
    const others: Json[] = [
      { ...value, c: 1 },
      { a: [1, { b: 0 }] },
      { __proto: 'x', a: value.a },
      [],
    ]
    for (const other of others) {
      expect(matcherOf([['v', text]])({ v: other })).toBe(false)
      expect(matcherOf([['v:in', `x,${text.replace(/,/g, '\\,')}`]])({ v: other })).toBe(false)
    }
    expect(matcherOf([['v:in', `x,${text.replace(/,/g, '\\,')}`]])({ v: value })).toBe(true)
    expect(matcherOf([['v', `${text} `]])({ v: value })).toBe(false)
  })

  it('reads an object once to compare it with several values', () => {
    let reads = 0
    const value = new Proxy(
      { a: 1, b: 2 },
      {
        ownKeys(target) {
          reads++
          return Reflect.ownKeys(target)
        },
      },
    )
    const texts = Array.from({ length: 100 }, (_, n) => `{"a":${n}\\,"b":2}`)
    expect(matcherOf([['v:in', texts.join()]])({ v: value })).toBe(true)
    expect(reads).toBe(1)
  })

  it('yields between two conditions when a document takes long', async () => {
    let now = 0
    let turns = 0
    const matches = matcherOf(
      Array.from({ length: 4 }, () => ['v', 'x'] as const),
      () => (now += 6),
    )
    const countTurns = () => {
      turns++
      if (turns < 10) setImmediate(countTurns)
    }
    setImmediate(countTurns)
    const matched = matches({ v: 'x' })
    expect(matched).toBeInstanceOf(Promise)
    expect(await matched).toBe(true)
    expect(turns).toBeGreaterThan(0)
    expect(await matches({ v: 'y' })).toBe(false)
  })

  it.each([
    ['v:contains', 'x'.repeat(201), /can have at most 200 characters/],
    ['v:like', 'x', /"like" is not an operator. Operators are eq, ne, lt/],
    ['a:b:eq', 'x', /"b:eq" is not an operator.*\\: for a colon/],
    ['v:exists', 'yes', /must be true or false/],
    ['v\\x', '1', /backslash must precede/],
    ['v\\', '1', /backslash must precede/],
  ])('rejects %s=%s, naming the parameter', (name, value, message) => {
    expect(() => matcherOf([[name, value]])).toThrow(
      expect.objectContaining({
        code: 'bad-parameter',
        message: expect.stringMatching(message),
        details: { field: name },
      }),
    )
  })
})

describe('requiredTexts', () => {
  const texts = (name: string, text: string) => requiredTexts(parseFilter([[name, text]]))

  test.each([
    ['author', 'ada', [['"author":"ada"']]],
    ['author.n', '5', [['"n":"5"', '"n":5']]],
    ['author:in', 'a,"', [['"author":"a"', '"author":"\\""']]],
    ['author:in', 'a,b,c,d,e,f,g,h,i', [['"author":']]],
    ['author', 'x'.repeat(100), [[`"author":"${'x'.repeat(54)}`]]],
    ['author', `${'x'.repeat(53)}😀`, [[`"author":"${'x'.repeat(53)}`]]],
    ['author:starts', 'a\n', [['"author":"a\\n']]],
    ['author:contains', '{"a":1}', [['{\\"a\\":1}', '{"a":1}']]],
    ['author:contains', '', [['"author":']]],
    ['author:gte', '5', [['"author":']]],
    ['author:exists', 'true', [['"author":']]],
    ['author:exists', 'false', []],
    ['author:ne', 'ada', []],
  ])('%s=%s needs texts', (name, text, expected) => {
    expect(texts(name, text)).toEqual(expected)
  })

  test('the number of texts is limited', () => {
    const conditions = parseFilter(Array.from({ length: 20 }, (_, n) => [`f${n}`, `${n}`]))
    expect(requiredTexts(conditions).flat()).toHaveLength(8)
  })

  test('each document that matches contains one of each group', () => {
    const word = fc.constantFrom(
      'a',
      'b',
      '',
      '5',
      '-1',
      'true',
      'null',
      '"',
      '\\',
      '\0',
      'ü',
      '[1]',
    )
    const value = fc.oneof(word, fc.integer({ min: -1, max: 5 }), fc.boolean(), fc.constant(null))
    const json = fc.oneof(
      value,
      fc.array(value, { maxLength: 2 }),
      fc.dictionary(fc.constantFrom('a', 'b'), value, { maxKeys: 2 }),
    )
    const document = fc.dictionary(fc.constantFrom('a', 'b', '"', 'ü.x'), json)
    const path = fc.constantFrom(['a'], ['b'], ['"'], ['ü.x'], ['a', 'b'])
    const operator = fc.constantFrom(...OPERATORS.filter((name) => name !== 'exists'))
    const text = fc.oneof(word, json.map(printJson))
    fc.assert(
      fc.property(document, path, operator, text, (body, names, name, other) => {
        const conditions = parseFilter([[`${printFieldPath(names)}:${name}`, other]])
        if (!createMatcher(conditions)(body as never)) return
        const printed = printJson(body as never)
        for (const group of requiredTexts(conditions)) {
          expect(group.some((each) => printed.includes(each))).toBe(true)
        }
      }),
      { numRuns: 2_000 },
    )
  })
})
