import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { ALL_SELECTED, fitSelected, formatSelected, parseSelected } from './use-selected-ids.ts'

test('Any ids are the same after they were in the URL, and none stands for all documents', () => {
  const id = fc.oneof(fc.string({ minLength: 1 }), fc.constantFrom('*', ',', '%', '%2C', 'a,b'))
  fc.assert(
    fc.property(fc.array(id, { minLength: 1 }), (ids) => {
      const text = formatSelected(ids)
      expect(parseSelected(text)).toEqual(ids)
      expect(text).not.toBe(ALL_SELECTED)
    }),
  )
})

test('A text that is not encoded selects nothing', () => {
  expect(parseSelected('')).toEqual([])
  expect(parseSelected(ALL_SELECTED)).toEqual([])
  expect(parseSelected('%,one')).toEqual(['one'])
})

test('A selection is at most 500 documents, whose ids fit in a URL', () => {
  const many = Array.from({ length: 600 }, (_, at) => `d${at}`)
  expect(fitSelected(many)).toEqual(many.slice(0, 500))
  const long = Array.from({ length: 600 }, (_, at) => `é${at}`.padEnd(200, 'é'))
  const url = new URL('http://127.0.0.1')
  url.searchParams.set('selected', formatSelected(fitSelected(long)))
  expect(url.search.length).toBeLessThan(8_192)
  expect(fitSelected(long).length).toBeGreaterThan(0)
})
