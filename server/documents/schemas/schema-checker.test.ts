import { afterEach, describe, expect, it } from 'vitest'
import type { Json } from '../../contract/json/json.ts'
import { PATTERN_LENGTH } from '../../contract/schema.ts'
import { createSchemaChecker, type SchemaChecker, type SchemaLimits } from './schema-checker.ts'
import type { Schema } from './schema-thread.ts'

const NOW = Date.UTC(2026, 0, 1)
const UNTIL = '2026-01-01T00:00:30.000Z'
let time = NOW
let slow: string[] = []
let checker: SchemaChecker

function open(limits: Partial<SchemaLimits> = {}): void {
  time = NOW
  slow = []
  checker = createSchemaChecker(
    { check: 40, ...limits },
    () => time,
    (key) => slow.push(key),
  )
}
afterEach(() => checker.close())

const schemaOf = (schema: Json, key = 'c'): Schema => ({ key, text: JSON.stringify(schema) })
const check = (schema: Schema, ...values: Json[]) =>
  checker.check(
    schema,
    values.map((value) => JSON.stringify(value)),
    0,
  )

const NUMBER = schemaOf({ properties: { n: { type: 'number' } } }, 'number')
/** Backtracks: each additional letter doubles the time. */
const SLOW = schemaOf({ properties: { a: { pattern: '^(a+)+$' } } }, 'slow')
const ENDLESS = { a: `${'a'.repeat(60)}!` }

describe('the checker', () => {
  it('finds violations in concurrent checks by several schemas', async () => {
    open()
    const text = schemaOf({ properties: { n: { type: 'string' } } }, 'text')
    const all = Array.from({ length: 300 }, (_, n) => check(n % 2 ? NUMBER : text, { n }))
    const found = await Promise.all(all)
    expect(found.map(({ count }) => count)).toEqual(all.map((_, n) => (n % 2 ? 0 : 1)))
    expect(found[0]?.violations).toEqual([{ pointer: '/0/n', message: 'must be string' }])
  })

  it('runs a check that is requested just as the last one ends', async () => {
    open()
    for (const key of ['a', 'b', 'c']) {
      const schema = schemaOf(true, key)
      await checker.compile(schema)
      expect((await check(schema, 1)).count).toBe(0)
      expect((await check(schema, 1)).count).toBe(0)
    }
  })

  it('reports the error of a schema', async () => {
    open()
    const wrong = schemaOf({ properties: { a: { type: 'text' } } })
    await expect(checker.compile(wrong)).rejects.toMatchObject({
      code: 'invalid',
      details: { violations: [{ pointer: '/properties/a/type' }, {}, {}] },
    })
    await checker.compile(NUMBER)
    expect(slow).toEqual([])
  })

  it.each<[string, Json, Json]>([
    ['a pattern', { properties: { a: { pattern: '^(a+)+$' } } }, ENDLESS],
    ['patternProperties', { patternProperties: { '^(a+)+$': true } }, { [ENDLESS.a]: 1 }],
    [
      'nested choices',
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
  ])('stops a check that takes too long by %s', async (_what, schema, document) => {
    open()
    await expect(check(schemaOf(schema), document)).rejects.toMatchObject({
      code: 'invalid',
      message:
        'Checking this against the schema of its collection takes too long (more than 40 ms) or ' +
        `too much memory. Changes to the collection are rejected until ${UNTIL}.`,
    })
    expect(slow).toEqual(['c'])
  })

  it('compiles a long pattern in linear time', async () => {
    // With V8's optimizations, it takes a minute.
    open({ check: 10_000 })
    const part = '(?:\\P{L}{3}){3}'
    const pattern = `^Z${part.repeat(PATTERN_LENGTH / part.length - 1)}`
    // For so many characters, V8 compiles the expression to machine code at once.
    expect(await check(schemaOf({ pattern }), '漢字'.repeat(5_000))).toMatchObject({ count: 1 })
  })

  it('compares a large document with many constants up to the first difference', async () => {
    open()
    const anyOf = Array.from({ length: 500 }, (_, kind) => ({ const: { kind } }))
    const list = Array.from({ length: 30_000 }, (_, n) => [n])
    expect(await check(schemaOf({ not: { anyOf } }), { list })).toMatchObject({ count: 0 })
  })

  it('compares many items of an array in linear time', async () => {
    open()
    const schema = schemaOf({ properties: { a: { uniqueItems: true } } })
    const a = Array.from({ length: 10_000 }, (_, n) => ({ n }))
    expect(await check(schema, { a })).toMatchObject({ count: 0 })
    expect(await check(schema, { a: [...a, { n: 7 }] })).toMatchObject({ count: 1 })
  })

  it('rejects a schema for a while after a slow check, without affecting others', async () => {
    open()
    await check(SLOW, { a: 'a' })
    const first = check(SLOW, ENDLESS)
    const behind = check(SLOW, { a: 'a' })
    await expect(first).rejects.toMatchObject({ code: 'invalid' })
    const rejected = {
      code: 'busy',
      message: `Validating with this schema took too long. The schema is rejected until ${UNTIL}.`,
      headers: { 'Retry-After': '30' },
    }
    await expect(behind).rejects.toMatchObject(rejected)
    await expect(checker.compile(SLOW)).rejects.toMatchObject(rejected)
    expect((await check(NUMBER, { n: '' })).count).toBe(1)
    time += 29_500
    await expect(check(SLOW, { a: 'a' })).rejects.toMatchObject({ headers: { 'Retry-After': '1' } })
    time += 500
    expect((await check(SLOW, { a: 'a' })).count).toBe(0)
    expect(slow).toEqual(['slow'])

    await expect(check(SLOW, ENDLESS)).rejects.toMatchObject({ code: 'invalid' })
    time -= 3_600_000
    expect((await check(SLOW, { a: 'a' })).count).toBe(0)
  })

  it('stops a compilation that takes too long', async () => {
    open({ compile: 1 })
    const allOf = Array.from({ length: 2_000 }, (_, n) => ({ required: [`p${n}`] }))
    await expect(checker.compile(schemaOf({ allOf }))).rejects.toMatchObject({
      code: 'invalid',
      message:
        'Compiling the schema takes too long (more than 1 ms) or too much memory. ' +
        `The schema is rejected until ${UNTIL}.`,
    })
  })

  it('finds the slow check in a batch', async () => {
    open()
    await Promise.all([check(SLOW, { a: 'a' }), check(NUMBER, { n: 1 })])
    // Both schemas are known to be quick by now.
    await Promise.all([check(SLOW, { a: 'a' }), check(NUMBER, { n: 1 })])
    const [fine, endless, wrong] = await Promise.allSettled([
      check(NUMBER, { n: 1 }),
      check(SLOW, ENDLESS),
      check(NUMBER, { n: '' }),
    ])
    expect(fine).toMatchObject({ value: { count: 0 } })
    expect(endless).toMatchObject({ reason: { code: 'invalid' } })
    expect(wrong).toMatchObject({ value: { count: 1 } })
    expect(slow).toEqual(['slow'])
  })

  it('alternates between schemas: a slow one delays others by one check', async () => {
    open({ check: 10_000 })
    const ended: string[] = []
    // Takes several milliseconds per check, so it is never quick.
    const document = { a: `${'a'.repeat(19)}!` }
    const one = async (schema: Schema, value: Json) => {
      await check(schema, value)
      ended.push(schema.key)
    }
    await Promise.all([
      ...Array.from({ length: 4 }, () => one(SLOW, document)),
      one(NUMBER, { n: 1 }),
      one(NUMBER, { n: 1 }),
    ])
    expect(ended).toEqual(['slow', 'number', 'slow', 'number', 'slow', 'slow'])
  })

  it('rejects waiting checks of a schema that took too long', async () => {
    open()
    await check(SLOW, { a: 'a' })
    await check(SLOW, { a: 'a' })
    // The schema counts as quick so far, so all three checks are sent together.
    const checks = [check(SLOW, { a: 'a' }), check(SLOW, ENDLESS), check(SLOW, ENDLESS)]
    const results = await Promise.allSettled(checks)
    expect(results.map((each) => each.status)).toEqual(['fulfilled', 'rejected', 'rejected'])
    expect(results.slice(1)).toMatchObject([
      { reason: { code: 'invalid' } },
      { reason: { code: 'busy' } },
    ])
    expect(slow).toEqual(['slow'])
  })

  it('limits the number of waiting checks', async () => {
    open({ waiting: 3 })
    const checks = Array.from({ length: 4 }, () => check(NUMBER, { n: 1 }))
    const results = await Promise.allSettled(checks)
    expect(results.map(({ status }) => status)).toEqual([
      ...Array.from({ length: 3 }, () => 'fulfilled'),
      'rejected',
    ])
    expect(results[3]).toMatchObject({ reason: { code: 'busy' } })
    expect((await check(NUMBER, { n: 1 })).count).toBe(0)
  })

  it('rejects running and waiting checks when it closes', async () => {
    open({ check: 60_000 })
    const endless = check(SLOW, ENDLESS)
    const behind = check(NUMBER, { n: 1 })
    endless.catch(() => {})
    behind.catch(() => {})
    await new Promise(setImmediate)
    await checker.close()
    for (const each of [endless, behind, check(NUMBER, { n: 1 })]) {
      await expect(each).rejects.toMatchObject({ code: 'busy' })
    }
  })
})
