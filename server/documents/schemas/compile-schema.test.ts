import { describe, expect, it, test } from 'vitest'
import type { Json } from '../../contract/json/json.ts'
import { PATTERN_LENGTH, POINTER_LENGTH, type Violation } from '../../contract/schema.ts'
import { Failure } from '../../failure.ts'
import { compileSchema } from './compile-schema.ts'
import { violationFailure } from './violations.ts'

interface Refusal {
  readonly message: string
  readonly violations: Violation[]
}

const refusalOf = (error: unknown): Refusal => {
  expect(error).toBeInstanceOf(Failure)
  const { code, message, details } = error as Failure
  expect(code).toBe('invalid')
  return { message, violations: details.violations ?? [] }
}

/** Returns the rejection of a schema. */
function refused(schema: Json): Refusal {
  try {
    compileSchema(schema)
  } catch (error) {
    return refusalOf(error)
  }
  throw new Error('the schema was accepted')
}

/** Returns the violations of documents, or undefined if there are none. */
function check(schema: Json, values: Json[], indexed = false): Refusal | undefined {
  const result = compileSchema(schema)(values, indexed ? 0 : undefined)
  return result.count === 0 ? undefined : refusalOf(violationFailure('is invalid', result))
}
const pointers = (schema: Json, value: Json) =>
  check(schema, [value])?.violations.map(({ pointer }) => pointer) ?? []

describe('a schema', () => {
  it.each<[string, Json, string, string]>([
    ['an unknown type', { properties: { a: { type: 'text' } } }, '/properties/a/type', ''],
    ['a keyword of the wrong type', { required: 'a' }, '/required', 'must be array'],
    ['an array', [], '', 'must be object,boolean'],
    ['a string', 'x', '', 'must be a JSON object, true or false'],
    ['null', null, '', 'must be a JSON object, true or false'],
    [
      'an external reference',
      { $ref: 'https://example.org/a' },
      '',
      'External references are not supported',
    ],
    [
      'a reference to a file',
      { $ref: 'file:///etc/passwd' },
      '',
      'External references are not supported',
    ],
    ['a dangling reference', { $ref: '#/$defs/no' }, '', '#/$defs/no'],
    ['a dangling dynamic reference', { items: { $dynamicRef: '#no' } }, '', '"#no"'],
    [
      'a dynamic reference and an embedded schema resource',
      {
        items: { $dynamicRef: '#a' },
        $defs: { a: { $dynamicAnchor: 'a' }, b: { $id: 'https://example.org/b' } },
      },
      '',
      '$dynamicRef is not supported in a schema with an $id in a subschema',
    ],
    ['an invalid pattern', { pattern: '(' }, '', 'Invalid regular expression'],
    [
      'a pattern that is too long',
      { pattern: 'a'.repeat(PATTERN_LENGTH + 1) },
      '',
      'more than 10000 characters',
    ],
    [
      'a pattern that is too long, in an unknown keyword',
      { $ref: '#/unknown', unknown: { pattern: 'a'.repeat(PATTERN_LENGTH + 1) } },
      '',
      'more than 10000 characters',
    ],
    [
      'a pattern of names that is too long',
      { items: { patternProperties: { ['a'.repeat(PATTERN_LENGTH + 1)]: true } } },
      '',
      'more than 10000 characters',
    ],
    [
      'another draft',
      { $schema: 'http://json-schema.org/draft-07/schema#' },
      '',
      '/draft-07/schema#". Only draft 2020-12 is supported: omit $schema',
    ],
    ['the keyword $async', { $async: true, type: 'string' }, '', '$async'],
    ['the id of the draft', { $id: 'https://json-schema.org/draft/2020-12/schema' }, '', 'exists'],
  ])('is rejected with %s, and the error is named', (_what, schema, pointer, reason) => {
    const { message, violations } = refused(schema)
    expect(violations.map((each) => each.pointer)).toContain(pointer)
    expect(message).toContain(reason)
    expect(message).not.toMatch(/\bat .*\.js\b/)
  })

  it('is rejected with each error once', () => {
    const { violations } = refused({ properties: { a: { items: [{ type: 'string' }] } } })
    const texts = violations.map(({ pointer, message }) => `${pointer} ${message}`)
    expect(texts).toEqual([...new Set(texts)])
    expect(texts).toContain('/properties/a/items must be object,boolean')
  })

  it('has no keyword nullable, which belongs to OpenAPI', () => {
    const text = { type: 'string', nullable: true }
    expect(pointers({ properties: { a: text } }, { a: null })).toEqual(['/a'])
    const nested: Json[] = [
      { anyOf: [text] },
      { $defs: { text }, $ref: '#/$defs/text' },
      { not: { not: text } },
    ]
    for (const schema of nested) expect(check(schema, [null])).toBeDefined()
    expect(check({ nullable: true, minLength: 1 }, ['a'])).toBeUndefined()
    // Here it is the name of a property.
    expect(pointers({ properties: { nullable: { type: 'string' } } }, { nullable: 1 })).toEqual([
      '/nullable',
    ])
    expect(check({ const: { nullable: true } }, [{ nullable: true }])).toBeUndefined()
  })

  it.each<[string, Json]>([
    ['$anchor', { $anchor: 'a', type: 'string' }],
    ['$dynamicAnchor', { $dynamicAnchor: 'a', type: 'string' }],
  ])('may refer to a subschema by its %s', (_keyword, text) => {
    const references: Json[] = [{ $ref: '#a' }, { $dynamicRef: '#a' }]
    for (const reference of references) {
      const schema = { properties: { a: reference }, $defs: { text } }
      expect(pointers(schema, { a: 1 })).toEqual(['/a'])
      expect(pointers(schema, { a: 'x' })).toEqual([])
    }
  })

  it.each<[Json]>([
    [{ $anchor: 'node', properties: { next: { $ref: '#node' } } }],
    [{ $dynamicAnchor: 'node', properties: { next: { $dynamicRef: '#node' } } }],
    [
      {
        $id: 'https://example.org/a',
        $anchor: 'node',
        properties: { next: { $ref: 'https://example.org/a#node' } },
      },
    ],
  ])('may refer to its root by an anchor: %j', (schema) => {
    const tree = { type: 'object', ...Object(schema) }
    expect(pointers(tree, { next: { next: 1 } })).toEqual(['/next/next'])
    expect(pointers(tree, { next: { next: {} } })).toEqual([])
  })

  it('may apply $ref, $dynamicRef and allOf together', () => {
    const schema = {
      $ref: '#/$defs/short',
      $dynamicRef: '#text',
      allOf: [{ pattern: '^a' }],
      $defs: { short: { maxLength: 2 }, text: { $dynamicAnchor: 'text', minLength: 1 } },
    }
    expect(check(schema, ['a'])).toBeUndefined()
    for (const value of ['', 'abc', 'b']) expect(check(schema, [value])).toBeDefined()
  })

  it('keeps the anchors of embedded schema resources apart from those of its root', () => {
    const schema = {
      $id: 'https://example.org/a',
      $anchor: 'a',
      type: 'object',
      properties: { b: { $ref: 'https://example.org/b' } },
      $defs: {
        b: {
          $id: 'https://example.org/b',
          items: { $ref: '#a' },
          $defs: { a: { $anchor: 'a', type: 'string' } },
        },
      },
    }
    expect(pointers(schema, { b: ['text'] })).toEqual([])
    expect(pointers(schema, { b: [{}] })).toEqual(['/b/0'])
  })

  it('may share its $id with another schema', () => {
    const id = 'https://example.org/a'
    compileSchema({ $id: id, $defs: { a: { type: 'string' } } })
    expect(pointers({ $id: id, type: 'array' }, {})).toEqual([''])
    expect(refused({ $ref: id }).message).toContain('External references are not supported')
  })

  it('may be a boolean or contain unknown keywords', () => {
    expect(check(true, [{}])).toBeUndefined()
    expect(check(false, [{}])?.violations).toHaveLength(1)
    expect(check({ 'x-label': 'A', type: ['object', 'null'] }, [{}])).toBeUndefined()
  })

  it('never injects code through names or strings', () => {
    const set = '(globalThis.hacked=true)'
    const evil = `'"\`+${set}+\`"'\\\n*/\${${set}}//`
    const schema = {
      title: evil,
      $comment: evil,
      required: [evil],
      properties: { [evil]: { const: evil } },
      patternProperties: { '"[/`]': { enum: [evil] } },
      dependentRequired: { [evil]: [`${evil}2`] },
      $defs: { [evil]: { type: 'string' } },
    }
    expect(pointers(schema, {})).toEqual([''])
    expect(check(schema, [{ [evil]: 1 }])?.violations.length).toBeGreaterThan(1)
    expect(Object.hasOwn(globalThis, 'hacked')).toBe(false)
  })
})

test.each([
  '{"properties":{"__proto__":{}}}',
  '{"items":{"patternProperties":{"__proto__":false}}}',
  '{"anyOf":[{"dependentRequired":{"__proto__":["a"]}}]}',
])('the schema %s is rejected, because the field would not be checked', (schema) => {
  expect(() => compileSchema(JSON.parse(schema))).toThrow('a field named __proto__')
})

describe('a document', () => {
  it('gets every violation with its pointer (RFC 6901)', () => {
    const schema = {
      required: ['title', 'n'],
      properties: {
        title: { type: 'string', minLength: 3 },
        'a/b~c': { type: 'number' },
        tags: { type: 'array', items: { enum: ['x', 'y'] } },
      },
      additionalProperties: false,
    }
    const document = { title: 5, 'a/b~c': '', tags: ['x', 'z'], more: 1 }
    const { violations, message } = check(schema, [document]) as Refusal
    expect(violations).toEqual([
      { pointer: '', message: 'must have the property “n”' },
      { pointer: '', message: 'must not have the property “more”' },
      { pointer: '/title', message: 'must be string' },
      { pointer: '/a~1b~0c', message: 'must be number' },
      { pointer: '/tags/1', message: 'must be one of ["x","y"]' },
    ])
    expect(message).toContain('There are 5 violations.')
  })

  it('of an array is named by its index', () => {
    const schema = { properties: { n: { type: 'integer' } } }
    const many = [{ n: 1 }, { n: 'x' }, { n: 1.5 }]
    const found = check(schema, many, true)?.violations
    expect(found?.map(({ pointer }) => pointer)).toEqual(['/1/n', '/2/n'])
  })

  it('does not inherit keys of JavaScript objects', () => {
    expect(pointers({ required: ['toString'] }, {})).toEqual([''])
    expect(pointers({ properties: { constructor: { type: 'string' } } }, {})).toEqual([])
    const proto = JSON.parse('{"__proto__":1}') as Json
    expect(pointers({ additionalProperties: false }, proto)).toEqual([''])
  })

  it('is validated with decimal arithmetic', () => {
    const schema = { properties: { price: { multipleOf: 0.01 } } }
    expect(pointers(schema, { price: 19.99 })).toEqual([])
    expect(pointers(schema, { price: 19.995 })).toEqual(['/price'])
    expect(pointers({ properties: { n: { multipleOf: 1e10 } } }, { n: 1 })).toEqual(['/n'])
  })

  it('gets at most 1,000 violations, and their number', () => {
    const list = Array.from({ length: 5_000 }, () => 'x')
    const schema = { properties: { list: { items: { type: 'number' } } } }
    const found = check(schema, [{ list }])
    expect(found?.violations).toHaveLength(1_000)
    expect(found?.message).toContain('There are 5000 violations.')
  })

  it('that a schema validates in infinite recursion is rejected', () => {
    expect(() => check({ $ref: '#' }, [{}])).toThrow('takes too long')
  })

  it('gets truncated pointers', () => {
    const key = 'k'.repeat(2 * POINTER_LENGTH)
    const [pointer = ''] = pointers({ additionalProperties: { type: 'number' } }, { [key]: '' })
    expect(pointer).toBe(`/${key.slice(1, POINTER_LENGTH)}…`)
  })
})

describe('equality of JSON values', () => {
  const methods = { toString: 1, valueOf: [], constructor: { a: 1 } }

  it.each<[string, Json, Json, string | undefined]>([
    ['const', { const: methods }, { ...methods }, undefined],
    ['const', { const: { id: '1' } }, methods, 'must be {"id":"1"}'],
    ['const', { const: { a: 1, b: { c: 2, d: 3 } } }, { b: { d: 3, c: 2 }, a: 1 }, undefined],
    ['const', { const: [1, 2] }, [2, 1], 'must be [1,2]'],
    ['const', { const: 1 }, '1', 'must be 1'],
    ['enum', { enum: [[], methods] }, methods, undefined],
    ['enum', { enum: [[], {}] }, methods, 'must be one of [[],{}]'],
    ['enum', { enum: [null, false] }, 0, 'must be one of [null,false]'],
    ['uniqueItems', { uniqueItems: true }, [1, '1', true, [1], { a: 1 }, { a: '1' }], undefined],
    [
      'uniqueItems',
      { uniqueItems: true },
      [methods, methods],
      'must not have equal items (at 0 and 1)',
    ],
    ['uniqueItems', { uniqueItems: false }, [1, 1], undefined],
    ['uniqueItems', { uniqueItems: true }, { length: 2 }, undefined],
    [
      'uniqueItems',
      { uniqueItems: true },
      [0, { a: 1, b: 2 }, { b: 2, a: 1 }],
      'must not have equal items (at 1 and 2)',
    ],
  ])('%s: %j of %j', (_keyword, schema, value, message) => {
    expect(check(schema, [value])?.violations.map((each) => each.message)).toEqual(
      message === undefined ? undefined : [message],
    )
  })

  it('compares the values in a schema itself', () => {
    expect(refused({ type: [methods, methods] }).message).toContain('is not a valid JSON Schema')
    expect(refused({ required: ['a', 'a'] }).message).toContain('must not have equal items')
  })
})
