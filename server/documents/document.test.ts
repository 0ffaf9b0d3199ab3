import { expect, it, vi } from 'vitest'
import { toDocument } from './document.ts'

it('adds an id to a document without printing it again', () => {
  const value = { b: 1, 2: '' }
  const printed = JSON.stringify(value)
  const print = vi.spyOn(JSON, 'stringify')
  try {
    const { body } = toDocument(value, 'a"', Date.now, printed)
    expect(print.mock.calls).toEqual([['a"']])
    expect(JSON.parse(body)).toEqual({ id: 'a"', ...value })
  } finally {
    print.mockRestore()
  }
})

it.each([
  ['{}', '{"id":"a"}'],
  ['{"__proto__":{"x":1}}', '{"id":"a","__proto__":{"x":1}}'],
  ['{"b":1,"id":"a"}', '{"b":1,"id":"a"}'],
])('the document a of %s is %s', (text, body) => {
  expect(toDocument(JSON.parse(text), 'a', Date.now)).toEqual({ id: 'a', body })
})

it.each([
  [7, 'An id is a string.'],
  ['', 'An id has 1 to 256 characters.'],
  ['😀'.repeat(257), 'An id has 1 to 256 characters.'],
  ['\ud800', 'An id cannot contain a lone surrogate.'],
  ['a\0', 'An id cannot contain the character U+0000.'],
  ['..', 'The id cannot be "..", because a URL would not lead to the document.'],
])('rejects the id %j: %s', (id, message) => {
  const expected = expect.objectContaining({ message, details: { field: '/id' } })
  expect(() => toDocument({ id }, undefined, Date.now)).toThrow(expected)
})

it('accepts an id of 256 characters of two code units each', () => {
  const id = '😀'.repeat(256)
  expect(toDocument({ id }, undefined, Date.now)).toEqual({ id, body: JSON.stringify({ id }) })
})
