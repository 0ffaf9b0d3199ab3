import { expect, test } from 'vitest'
import { nameFault } from './database-name.ts'

test.each([
  ['shop', undefined],
  ['_system', 'There is a database _system already.'],
  ['blog', 'There is a database blog already.'],
  ['a b', /^A space cannot stand/],
  ['aé', /^“é” cannot stand/],
  ['1a', /^A database name begins with a letter/],
  ['a'.repeat(65), /^This is 65 characters long/],
])('%j is judged while it is typed', (name, fault) => {
  const said = nameFault(name, ['_system', 'blog'], false)
  if (fault instanceof RegExp) expect(said).toMatch(fault)
  else expect(said).toBe(fault)
})

test('nothing is no fault before it is wanted', () => {
  expect(nameFault('', [], false)).toBeUndefined()
  expect(nameFault('', [], true)).toMatch(/^The name is missing/)
})
