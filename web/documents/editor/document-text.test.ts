import { describe, expect, test } from 'vitest'
import { compact, pretty, sameDocument, summarise, textFault } from './document-text.ts'

describe('summarise', () => {
  test('gives the fields on one line, without the id', () => {
    expect(summarise({ id: 'a', title: 'One', tags: ['x'], n: null })).toBe(
      '{ "title": "One", "tags": ["x"], "n": null }',
    )
    expect(summarise({ id: 'a' })).toBe('{}')
  })

  test('is cut where a row ends, never within a character', () => {
    const text = summarise({ id: 'a', title: '😀'.repeat(500) })
    expect(text.length).toBeLessThan(250)
    expect(text.endsWith('…')).toBe(true)
    expect(text.isWellFormed()).toBe(true)
  })
})

test('compact takes away what stands between the parts, and nothing in a string', () => {
  const text = '{\n  "a b" : [ 1,\t2 ],\r\n  "c\\" d": "  \\\\" }\n'
  expect(compact(text)).toBe('{"a b":[1,2],"c\\" d":"  \\\\"}')
  expect(compact(pretty('{"a":{"b":[1,"x  y"]}}'))).toBe('{"a":{"b":[1,"x  y"]}}')
  expect(compact('{"a": "b  c\\\\"')).toBe('{"a":"b  c\\\\"')
  expect(compact('{"a": "b  \\" c')).toBe('{"a":"b  \\" c')
})

test('documents are the same whatever the order of their fields', () => {
  expect(sameDocument('{"a":1,"b":{"c":2,"d":3}}', '{"b":{"d":3,"c":2},"a":1}')).toBe(true)
  expect(sameDocument('{"a":[1,2]}', '{"a":[2,1]}')).toBe(false)
})

describe('textFault', () => {
  test('says where a text stops being JSON', () => {
    const fault = textFault('{\n  "a": 1\n  "b": 2\n}')
    expect(fault?.message).toMatch(/^This is not JSON from line 3, column 3 on\. \(.+\)$/)
    expect(fault?.at).toBe(13)
    expect(textFault('{"a": ')?.message).toContain('line 1, column 7')
  })

  test('asks for an object', () => {
    for (const text of ['[]', '"a"', 'null', '1']) {
      expect(textFault(text)?.message).toContain('A document is a JSON object')
    }
    expect(textFault(' \n')?.message).toContain('Nothing is written.')
    expect(textFault('{}')).toBeUndefined()
  })
})
