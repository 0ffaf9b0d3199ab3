import { expect, test } from 'vitest'
import { nameError } from './database-name.ts'

test.each([
  ['shop', undefined],
  ['_system', 'The database _system already exists.'],
  ['blog', 'The database blog already exists.'],
  ['a b', /^A space is not allowed/],
  ['aé', /^“é” is not allowed/],
  ['1a', /^A database name begins with a letter/],
  ['a'.repeat(65), /^The name has 65 characters/],
])('%j is validated while it is typed', (name, error) => {
  const message = nameError(name, ['_system', 'blog'], false)
  if (error instanceof RegExp) expect(message).toMatch(error)
  else expect(message).toBe(error)
})

test('an empty name is no error until it is submitted', () => {
  expect(nameError('', [], false)).toBeUndefined()
  expect(nameError('', [], true)).toMatch(/^Enter a name/)
})
