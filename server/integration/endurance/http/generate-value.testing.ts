import type { Schema } from '../../../test-support/api-description.testing.ts'
import { pick, type Random } from '../settings.testing.ts'

/** Returns values of the test for a property or parameter of this name, if there are any. */
export type ExampleValues = (name: string) => readonly unknown[] | undefined

/** Texts of all kinds. Those that match a pattern serve as its valid values. */
const TEXTS = [
  ...['', ' ', 'a', 'one', 'blog', 'articles', 'year', '-year', 'author.name', 'id', '0', '1', '2'],
  ...['99', '1000', '-1', '1.5', 'true', 'null', '2026-01-31', '2026-01-31T10:00:00Z', '{"a":1}'],
  ...[
    'ä',
    '日本',
    '😀',
    'a\u0301',
    '\u202e',
    '\u2028',
    '\0',
    '\ud800',
    '\r\nX: y',
    '%',
    '%2F',
    '..',
  ],
  ...["' or 1=1 --", '<script>', '__proto__', 'constructor', '\\', '"', 'a,b', 'a\\,b', 'a:b'],
  ...['x'.repeat(65), 'x'.repeat(257), 'x'.repeat(2_000)],
]

/** Values that are rarely valid. */
const ODD: readonly unknown[] = [
  ...[null, true, false, 0, -0, -1, 1.5, 1e308, 5e-324, 2 ** 53, [], {}, [[]], [null], [{}]],
  ...[{ a: null }, { id: 7 }, { ['__proto__']: 1, toString: 2 }, ...TEXTS],
]

/** Returns a text of any kind. */
export const anyText = (random: Random): string => pick(random, TEXTS)

/** Returns a value that a schema permits, as far as this generator understands the schema. */
export function generateValue(
  random: Random,
  schema: Schema,
  known: ExampleValues,
  name = '',
): unknown {
  const given = known(name)
  if (given !== undefined && random(8) > 0) return pick(random, given)
  if ('const' in schema) return schema.const
  const choices = (schema.enum ?? schema.anyOf ?? schema.oneOf) as readonly Schema[] | undefined
  if (choices !== undefined) {
    const choice = pick(random, choices)
    return schema.enum === undefined ? generateValue(random, choice, known, name) : choice
  }
  const type = Array.isArray(schema.type) ? pick(random, schema.type as string[]) : schema.type
  const { minimum = 0, maximum = 100 } = schema as Record<string, number | undefined>
  switch (type) {
    case 'string':
      return generateText(random, schema)
    case 'boolean':
      return random(2) === 0
    case 'integer':
      return pick(random, [minimum, minimum + 1, Math.min(maximum, minimum + random(100)), maximum])
    case 'number':
      return pick(random, [0, -1, 1.5, random(1_000)])
    case 'array': {
      const from = Number(schema.minItems ?? 0)
      return Array.from({ length: from + random(4) }, () =>
        generateValue(random, (schema.items ?? {}) as Schema, known, name),
      )
    }
    case 'object':
      return generateObject(random, schema, known)
    default:
      return pick(random, ODD)
  }
}

function generateText(random: Random, { pattern, minLength, maxLength }: Schema): string {
  const matches = new RegExp(String(pattern ?? ''), 'u')
  const valid = TEXTS.filter(
    (text) =>
      matches.test(text) &&
      text.length >= Number(minLength ?? 0) &&
      text.length <= Number(maxLength ?? Infinity),
  )
  return valid.length === 0 ? anyText(random) : pick(random, valid)
}

function generateObject(random: Random, schema: Schema, known: ExampleValues): object {
  const properties = Object.entries((schema.properties ?? {}) as Record<string, Schema>)
  const required = (schema.required ?? []) as readonly string[]
  const given = properties.filter(([name]) => required.includes(name) || random(2) === 0)
  const entries: [string, unknown][] = given.map(([name, each]) => [
    name,
    generateValue(random, each, known, name),
  ])
  if (schema.additionalProperties !== false) {
    for (let n = random(3); n > 0; n--) {
      entries.push([pick(random, ['year', 'author', 'n', 'tags']), pick(random, ODD)])
    }
  }
  return Object.fromEntries(entries)
}

/** Returns a value with one part replaced, removed or added. */
export function spoil(random: Random, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || random(4) === 0) return pick(random, ODD)
  const keys = Object.keys(value)
  const key = keys[random(keys.length + 1)]
  if (Array.isArray(value)) {
    if (key === undefined) return [...value, ...value, pick(random, ODD)]
    return value.with(Number(key), spoil(random, value[Number(key)]))
  }
  const object = value as Record<string, unknown>
  if (key === undefined) return { ...object, [anyText(random)]: pick(random, ODD) }
  if (random(3) === 0) {
    const { [key]: _, ...rest } = object
    return rest
  }
  return { ...object, [key]: spoil(random, object[key]) }
}

/** Returns the bytes of a JSON text; often not valid JSON if `spoiled`. */
export function encodeJson(random: Random, value: unknown, spoiled: boolean): Buffer {
  const text = JSON.stringify(value)
  if (!spoiled) return Buffer.from(text)
  switch (random(9)) {
    case 0:
      return Buffer.from(text.slice(0, random(text.length + 1)))
    case 1:
      return Buffer.from(`\ufeff${text}`)
    case 2:
      return Buffer.concat([Buffer.from(text.slice(0, -1)), Buffer.from([0xff, 0xc0, 0x22])])
    case 3:
      return Buffer.from(text.replace(/^\{"([a-z]+)":/, '{"$1":1,"$1":'))
    case 4:
      return Buffer.from(`${'['.repeat(random(300))}${text}`)
    case 5:
      return Buffer.from(`{"a":${'['.repeat(200)}${']'.repeat(200)}}`)
    case 6:
      return Buffer.from(`{"n":${'9'.repeat(random(1_500))}}`)
    case 7:
      return Buffer.from(`${text}${text}`)
    default:
      return Buffer.from(`{"n":-0,"m":1e400,"o":12345678901234567890}`)
  }
}
