import { expect, it } from 'vitest'
import { DEPTH, KEYS, requireJsonLimits, STRUCTURES } from './json-limits.ts'

const tooDeep = expect.objectContaining({
  code: 'invalid',
  message: 'JSON can be nested at most 100 levels deep.',
})
const arrays = (depth: number) => '['.repeat(depth) + ']'.repeat(depth)
const objects = (depth: number) => `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`

it.each([arrays, objects])('accepts 100 levels and rejects 101: %o', (nested) => {
  requireJsonLimits(nested(DEPTH))
  expect(() => requireJsonLimits(nested(DEPTH + 1))).toThrow(tooDeep)
})

it('accepts 65,536 objects and arrays and rejects more', () => {
  const list = (count: number) => `[${'{},[],'.repeat(count / 2)}0]`
  requireJsonLimits(list(STRUCTURES - 2))
  expect(() => requireJsonLimits(list(STRUCTURES))).toThrow(
    expect.objectContaining({
      code: 'invalid',
      message: 'JSON can contain at most 65,536 objects and arrays.',
    }),
  )
})

const fields = (count: number) => Array.from({ length: count }, (_, n) => `"${n}":":"`).join()

it('accepts 32,768 keys in an object and rejects more', () => {
  const tooMany = expect.objectContaining({
    code: 'invalid',
    message: 'An object can have at most 32,768 keys.',
  })
  for (const around of ['', '[', '{"a":[1,{}],"b":']) {
    requireJsonLimits(`${around}{${fields(KEYS)}}`)
    expect(() => requireJsonLimits(`${around}{${fields(KEYS + 1)}}`)).toThrow(tooMany)
  }
})

it('counts the keys of each object separately', () => {
  const half = fields(KEYS / 2)
  const object = `{${half},"a":{${half},"b":[{${half}}]},${fields(KEYS / 2 - 1)}}`
  requireJsonLimits(`[${object},${object}]`)
  expect(() => requireJsonLimits(object.replace('{', '{"c":1,'))).toThrow('at most 32,768 keys')
})

it('counts the objects and arrays of several texts', () => {
  expect(requireJsonLimits('[{},"[]"]', 0, requireJsonLimits('[]'))).toBe(3)
  requireJsonLimits('[{}]', 0, STRUCTURES - 2)
  expect(() => requireJsonLimits('[{}]', 0, STRUCTURES - 1)).toThrow('at most 65,536 objects')
})

it.each([
  ['brackets in strings', JSON.stringify(['['.repeat(1_000), '"{'.repeat(1_000)])],
  ['strings that end in backslashes', JSON.stringify(['\\', '\\"', '['.repeat(1_000), '\\\\'])],
  ['many arrays that are closed again', `[${'[],'.repeat(1_000)}{}]`],
  ['text that is not JSON', `${']'.repeat(1_000)}"`],
])('does not count %s', (_what, text) => {
  requireJsonLimits(text)
})

it.each([
  ['100,000 open brackets', '['.repeat(100_000)],
  ['brackets after a string', `["\\\\",${'['.repeat(1_000)}`],
  ['brackets that are closed out of order', '{]'.repeat(1_000) + '['.repeat(1_000)],
])('rejects %s', (_what, text) => expect(() => requireJsonLimits(text)).toThrow(tooDeep))
