import { expect, it } from 'vitest'
import { tokenInput } from './token.ts'

const isName = (name: string) => tokenInput.safeParse({ name, role: 'viewer' }).success

it('accepts one-line names in any script', () => {
  for (const name of ['ci', 'Ada’s laptop <b>', 'שלום', '艾达 👩‍💻', 'a'.repeat(64)]) {
    expect([name, isName(name)]).toEqual([name, true])
  }
})

it('rejects names that are invisible or change the text around them', () => {
  for (const name of [
    '',
    ' ',
    'a'.repeat(65),
    'a\nb',
    'a\0',
    'a\u202Eb',
    '\u2066a',
    'a\u2028b',
    '\u200F',
  ]) {
    expect([name, isName(name)]).toEqual([name, false])
  }
})

it('accepts at most 1,000 databases', () => {
  const parse = (count: number) => {
    const databases = Array.from({ length: count }, (_, at) => `n${at}`)
    return tokenInput.safeParse({ name: 'ci', role: 'viewer', databases })
  }
  expect(parse(1_000).success).toBe(true)
  expect(parse(1_001).error?.issues).toMatchObject([{ message: 'at most 1,000 names' }])
})

it.each<[string, boolean]>([
  ['2028-01-31T00:00:00Z', true],
  ['2028-01-31T00:00:00.5+02:00', true],
  ['2028-01-31', true],
  // `Date.parse` reads these in the time zone of the server.
  ['01/02/2028', false],
  ['2028-01-31T00:00:00', false],
  ['30d', false],
])('reads %s as the time at which a token expires: %s', (expires, isValid) => {
  const input = { name: 'ci', role: 'viewer', expires }
  expect(tokenInput.safeParse(input).success).toBe(isValid)
})
