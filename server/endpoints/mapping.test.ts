import { describe, expect, it } from 'vitest'
import { MAPPING_NAMES } from '../contract/endpoints/endpoint.ts'
import { createMapping } from './mapping.ts'

const namesOf = (length: number) => Array.from({ length }, (_, at) => `n${at}`)

describe('createMapping', () => {
  it('accepts 1,000 names and rejects more', () => {
    const names = namesOf(MAPPING_NAMES)
    expect(createMapping(names).names).toEqual(names)
    expect(() => createMapping([...names, 'more'])).toThrow(
      'The list of databases has 1,001 names. At most 1,000 are allowed.',
    )
  })

  it('accepts a stored mapping of any length, and finds duplicate names in it', () => {
    const names = namesOf(100_000)
    expect(createMapping(names, Infinity).defaultDatabase).toBe('n0')
    expect(() => createMapping([...names, 'n5'], Infinity)).toThrow(
      'The list of databases contains n5 twice.',
    )
  })

  it('truncates a rejected name in the message', () => {
    expect(() => createMapping(['-'.repeat(1024 * 1024)])).toThrow(
      `"${'-'.repeat(64)}" is not a valid database name.`,
    )
  })
})
