import { describe, expect, it } from 'vitest'
import type { Violation } from '../contract/schema.ts'
import { Failure } from '../failure.ts'
import { compileSchema } from './compile-schema.ts'
import type { Json } from './strict-json.ts'

/** What a refusal says. */
interface Refusal {
  readonly message: string
  readonly violations: Violation[]
}

const refusalOf = (error: unknown): Refusal => {
  expect(error).toBeInstanceOf(Failure)
  const { code, message, details } = error as Failure
  expect(code).toBe('invalid')
  return { message, violations: details.violations as Violation[] }
}

/** Why a schema is refused. */
function refused(schema: Json): Refusal {
  try {
    compileSchema(schema)
  } catch (error) {
    return refusalOf(error)
  }
  throw new Error('the schema was accepted')
}

/** What documents violate; undefined: nothing. */
async function check(schema: Json, values: Json[], indexed = false): Promise<Refusal | undefined> {
  const documents = values.map((value) => ({ value, body: JSON.stringify(value) }))
  try {
    await compileSchema(schema)(documents, indexed)
    return undefined
  } catch (error) {
    return refusalOf(error)
  }
}
const pointers = async (schema: Json, value: Json) =>
  (await check(schema, [value]))?.violations.map(({ pointer }) => pointer) ?? []

describe('a schema', () => {
  it.each<[string, Json, string, string]>([
    ['a type that there is not', { properties: { a: { type: 'text' } } }, '/properties/a/type', ''],
    ['a keyword of the wrong type', { required: 'a' }, '/required', 'must be array'],
    ['no object', [], '', 'must be object,boolean'],
    ['a text', 'x', '', 'is a JSON object, or true or false'],
    ['nothing', null, '', 'is a JSON object, or true or false'],
    ['a reference outside', { $ref: 'https://example.org/a' }, '', 'none is followed outside'],
    ['a file', { $ref: 'file:///etc/passwd' }, '', 'none is followed outside'],
    ['a reference to nothing', { $ref: '#/$defs/no' }, '', '#/$defs/no'],
    ['a pattern that is none', { pattern: '(' }, '', 'Invalid regular expression'],
    ['another draft', { $schema: 'http://json-schema.org/draft-07/schema#' }, '', 'draft-07'],
    ['what would let everything pass', { $async: true, type: 'string' }, '', '$async'],
    ['the id of the draft', { $id: 'https://json-schema.org/draft/2020-12/schema' }, '', 'exists'],
  ])('is refused with %s, and the fault is named', (_what, schema, pointer, reason) => {
    const { message, violations } = refused(schema)
    expect(violations.map((each) => each.pointer)).toContain(pointer)
    expect(message).toContain(reason)
    expect(message).not.toMatch(/\bat .*\.js\b/)
  })

  it('is known to itself alone: the same $id in two of them is no conflict', async () => {
    const id = 'https://example.org/a'
    compileSchema({ $id: id, $defs: { a: { type: 'string' } } })
    expect(await pointers({ $id: id, type: 'array' }, {})).toEqual([''])
    expect(refused({ $ref: id }).message).toContain('none is followed outside')
  })

  it('may be true or false, and hold keywords that nobody knows', async () => {
    expect(await check(true, [{}])).toBeUndefined()
    expect((await check(false, [{}]))?.violations).toHaveLength(1)
    expect(await check({ 'x-label': 'A', type: ['object', 'null'] }, [{}])).toBeUndefined()
  })

  it('never becomes code, whatever its names and texts are', async () => {
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
    expect(await pointers(schema, {})).toEqual([''])
    expect((await check(schema, [{ [evil]: 1 }]))?.violations.length).toBeGreaterThan(1)
    expect(Object.hasOwn(globalThis, 'hacked')).toBe(false)
  })
})

describe('a document', () => {
  it('is told every violation with its pointer (RFC 6901)', async () => {
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
    const { violations, message } = (await check(schema, [document])) as Refusal
    expect(violations).toEqual([
      { pointer: '', message: 'must have the property “n”' },
      { pointer: '', message: 'must not have the property “more”' },
      { pointer: '/title', message: 'must be string' },
      { pointer: '/a~1b~0c', message: 'must be number' },
      { pointer: '/tags/1', message: 'must be one of ["x","y"]' },
    ])
    expect(message).toContain('There are 5 violations.')
  })

  it('of many is named by its index in the array', async () => {
    const schema = { properties: { n: { type: 'integer' } } }
    const many = [{ n: 1 }, { n: 'x' }, { n: 1.5 }]
    const found = (await check(schema, many, true))?.violations
    expect(found?.map(({ pointer }) => pointer)).toEqual(['/1/n', '/2/n'])
  })

  it('in a batch of many MiB keeps its index', async () => {
    const large = { text: 'x'.repeat(700_000) }
    const found = await check({ maxProperties: 1 }, [large, large, large, { a: 1, b: 2 }], true)
    expect(found?.violations).toEqual([{ pointer: '/3', message: 'must have at most 1 property' }])
  })

  it('has its own keys alone, not those of JavaScript', async () => {
    expect(await pointers({ required: ['toString'] }, {})).toEqual([''])
    expect(await pointers({ properties: { constructor: { type: 'string' } } }, {})).toEqual([])
    const proto = JSON.parse('{"__proto__":1}') as Json
    expect(await pointers({ additionalProperties: false }, proto)).toEqual([''])
  })

  it('is checked by decimals as people write them', async () => {
    const schema = { properties: { price: { multipleOf: 0.01 } } }
    expect(await pointers(schema, { price: 19.99 })).toEqual([])
    expect(await pointers(schema, { price: 19.995 })).toEqual(['/price'])
  })

  it('is told 1,000 violations at most, and how many there are', async () => {
    const list = Array.from({ length: 5_000 }, () => 'x')
    const schema = { properties: { list: { items: { type: 'number' } } } }
    const found = await check(schema, [{ list }])
    expect(found?.violations).toHaveLength(1_000)
    expect(found?.message).toContain('There are 5000 violations.')
  })

  it.each<[string, Json, Json]>([
    ['a pattern', { properties: { a: { pattern: '^(a+)+$' } } }, { a: `${'a'.repeat(60)}!` }],
    [
      'names by a pattern',
      { patternProperties: { '^(a+)+$': true } },
      { [`${'a'.repeat(60)}!`]: 1 },
    ],
    [
      'a list without repetitions',
      { properties: { a: { uniqueItems: true } } },
      { a: Array.from({ length: 100_000 }, (_, n) => ({ n })) },
    ],
    ['a reference to itself', { $ref: '#' }, {}],
    [
      'choices that double',
      {
        $defs: Object.fromEntries(
          Array.from({ length: 40 }, (_, n) => {
            const next = { $ref: `#/$defs/d${n + 1}` }
            const choice: Json = n === 39 ? { const: 1 } : { anyOf: [next, next] }
            return [`d${n}`, choice]
          }),
        ),
        $ref: '#/$defs/d0',
      },
      {},
    ],
  ])('that would take too long by %s is refused', async (_what, schema, document) => {
    const begun = performance.now()
    expect((await check(schema, [document]))?.message).toContain('takes too long')
    expect(performance.now() - begun).toBeLessThan(5_000)
  })
})
