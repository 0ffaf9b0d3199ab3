import { expect, test } from 'vitest'
import { formatJson, minifyJson, sameDocument } from './document-text.ts'

test('minifyJson removes whitespace between tokens but not in strings', () => {
  const text = '{\n  "a b" : [ 1,\t2 ],\r\n  "c\\" d": "  \\\\" }\n'
  expect(minifyJson(text)).toBe('{"a b":[1,2],"c\\" d":"  \\\\"}')
  expect(minifyJson(formatJson('{"a":{"b":[1,"x  y"]}}'))).toBe('{"a":{"b":[1,"x  y"]}}')
  expect(minifyJson('{"a": "b  c\\\\"')).toBe('{"a":"b  c\\\\"')
  expect(minifyJson('{"a": "b  \\" c')).toBe('{"a":"b  \\" c')
})

test('a document is the one that was sent if only the order of fields or a missing id differs', () => {
  expect(sameDocument('{"a":1,"b":{"c":2,"d":3}}', '{"b":{"d":3,"c":2},"a":1}')).toBe(true)
  expect(sameDocument('{"a":[1,2]}', '{"a":[2,1]}')).toBe(false)
  expect(sameDocument('{"a":{"b":1}}', '{"a":[["b",1]]}')).toBe(false)
  expect(sameDocument('{"a":{"__proto__":1}}', '{"a":{}}')).toBe(false)
  expect(sameDocument('{"id":"1","a":2}', '{"a":2}')).toBe(true)
  expect(sameDocument('{"id":"1","a":2}', '{"id":"2","a":2}')).toBe(false)
})
