import { describe, expect, test } from 'vitest'
import {
  documentError,
  formatJson,
  minifyJson,
  sameDocument,
  syntaxErrorAt,
} from './document-text.ts'

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

describe('documentError', () => {
  test('returns the position of a syntax error', () => {
    const text = '{\n  "a": 1\n  "b": 2\n}'
    expect(documentError(text)).toMatch(/^Invalid JSON at line 3, column 3\. \(.+\)$/)
    expect(syntaxErrorAt(text)).toBe(13)
    expect(documentError('{"a": ')).toContain('line 1, column 7')
    expect(documentError('{"a": 1,}')).toContain('line 1, column 9')
    expect(documentError('{} // no')).toContain('line 1, column 4')
  })

  test('requires an object', () => {
    for (const text of ['[]', '"a"', 'null', '1']) {
      expect(documentError(text)).toContain('A document must be a JSON object')
    }
    expect(documentError(' \n')).toContain('Enter a JSON object')
    expect(documentError('{}')).toBeUndefined()
  })
})
