import { expect, it } from 'vitest'
import type { Json } from './json.ts'
import { mergePatch } from './merge-patch.ts'

// The examples of RFC 7396, Appendix A.
it.each<[string, string, string]>([
  ['{"a":"b"}', '{"a":"c"}', '{"a":"c"}'],
  ['{"a":"b"}', '{"b":"c"}', '{"a":"b","b":"c"}'],
  ['{"a":"b"}', '{"a":null}', '{}'],
  ['{"a":"b","b":"c"}', '{"a":null}', '{"b":"c"}'],
  ['{"a":["b"]}', '{"a":"c"}', '{"a":"c"}'],
  ['{"a":"c"}', '{"a":["b"]}', '{"a":["b"]}'],
  ['{"a":{"b":"c"}}', '{"a":{"b":"d","c":null}}', '{"a":{"b":"d"}}'],
  ['{"a":[{"b":"c"}]}', '{"a":[1]}', '{"a":[1]}'],
  ['["a","b"]', '["c","d"]', '["c","d"]'],
  ['{"a":"b"}', '["c"]', '["c"]'],
  ['{"a":"foo"}', 'null', 'null'],
  ['{"a":"foo"}', '"bar"', '"bar"'],
  ['{"e":null}', '{"a":1}', '{"e":null,"a":1}'],
  ['[1,2]', '{"a":"b","c":null}', '{"a":"b"}'],
  ['{}', '{"a":{"bb":{"ccc":null}}}', '{"a":{"bb":{}}}'],
  ['{}', '{"__proto__":{"x":1}}', '{"__proto__":{"x":1}}'],
])('%s patched with %s is %s', (target, patch, result) => {
  const parsed = JSON.parse(patch) as Json
  expect(JSON.stringify(mergePatch(JSON.parse(target) as Json, parsed))).toBe(result)
  // It is applied to further documents.
  expect(JSON.stringify(mergePatch(JSON.parse(target) as Json, parsed))).toBe(result)
  expect(JSON.stringify(parsed)).toBe(patch)
})

it('keeps the object, which may have many keys', () => {
  const target = { a: 1, b: { c: 1, d: 1 } }
  expect(mergePatch(target, { b: { d: null } })).toBe(target)
  expect(target).toEqual({ a: 1, b: { c: 1 } })
})
