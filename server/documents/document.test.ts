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
