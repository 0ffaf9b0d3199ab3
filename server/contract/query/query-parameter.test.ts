import { expect, it } from 'vitest'
import { singleValue } from './query-parameter.ts'

it('returns the only value of a parameter, and rejects several', () => {
  expect(singleValue('limit', [])).toBeUndefined()
  expect(singleValue('limit', [''])).toBe('')
  expect(() => singleValue('limit', ['1', '1'])).toThrow('limit is given more than once.')
})
