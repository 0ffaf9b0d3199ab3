import { describe, expect, it } from 'vitest'
import * as z from 'zod/mini'
import { parseColumn, parseJsonColumn } from './parse-column.ts'

const names = z.array(z.string())

describe('parseJsonColumn', () => {
  it('returns the parsed value', () => {
    expect(parseJsonColumn(names, 'tokens.databases', '["a"]')).toEqual(['a'])
  })

  it.each(['{}', '[1]', 'null', '["a"'])('throws for %s', (text) => {
    expect(() => parseJsonColumn(names, 'tokens.databases', text)).toThrow()
  })
})

describe('parseColumn', () => {
  it('throws an error that names the column and does not show the value', () => {
    const parse = () => parseColumn(z.enum(['a', 'b']), 'people.role', 'secret')
    expect(parse).toThrow('people.role has an invalid value in the store')
    expect(parse).not.toThrow('secret')
  })
})
