import { describe, expect, it } from 'vitest'
import { lineAt, pointerRange } from './pointer-range.ts'

const text = `{
  "title": 2,
  "tags": ["ab", { "x": null }],
  "a/b": { "~": true, "\\u0061": [] }
}`

const shownAt = (pointer: string) => {
  const { from, to } = pointerRange(text, pointer)
  return [text.slice(from, to), lineAt(text, from)]
}

describe('the range of a JSON Pointer', () => {
  it.each([
    ['', '{', 1],
    ['/title', '2', 2],
    ['/tags', '"tags"', 3],
    ['/tags/0', '"ab"', 3],
    ['/tags/1', '{', 3],
    ['/tags/1/x', 'null', 3],
    ['/a~1b/~0', 'true', 4],
    ['/a~1b/a', '"\\u0061"', 4],
  ])('%j is %s in line %d', (pointer, shown, line) => {
    expect(shownAt(pointer)).toEqual([shown, line])
  })

  it.each([
    ['/missing', '{', 1],
    ['/tags/7', '"tags"', 3],
    ['/tags/x', '"tags"', 3],
    ['/title/deeper', '2', 2],
    ['/a~1b/none', '"a/b"', 4],
  ])('%j resolves to its nearest existing parent: %s in line %d', (pointer, shown, line) => {
    expect(shownAt(pointer)).toEqual([shown, line])
  })

  it('is the start of an empty text', () => {
    expect(pointerRange('', '/a')).toEqual({ from: 0, to: 0 })
  })
})
