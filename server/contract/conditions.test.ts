import { describe, expect, it } from 'vitest'
import { readConditions } from './conditions.ts'

describe('readConditions', () => {
  it.each<[string, readonly string[] | '*']>([
    ['"a"', ['a']],
    ['"a", W/"b" , "c"', ['a', 'b', 'c']],
    ['W/"a.gzip"', ['a']],
    ['*', '*'],
    [' * ', '*'],
    ['', ['']],
    ['a', ['a']],
    ['""', ['']],
    ['"', ['"']],
    ['"a', ['"a']],
    ['a"', ['a"']],
    ['"a"b"', ['a"b']],
  ])('reads the tags of %j', (header, tags) => {
    expect(readConditions(header, undefined).match).toEqual(tags)
    expect(readConditions(undefined, header).noneMatch).toEqual(tags)
  })
})
