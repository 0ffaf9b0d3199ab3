import { expect, it } from 'vitest'
import { parseParameter, splitUnquoted } from './headers.ts'

it.each<[string, readonly string[]]>([
  ['', ['']],
  ['a;b', ['a', 'b']],
  [';a; ', ['', 'a', ' ']],
  ['a="b;c";d', ['a="b;c"', 'd']],
  ['a="b\\";c";d', ['a="b\\";c"', 'd']],
  ['a="b;c', ['a="b;c']],
])('splits %j outside quoted strings', (text, parts) => {
  expect(splitUnquoted(text, ';')).toEqual(parts)
})

it.each<[string, readonly [string, string | undefined]]>([
  ['', ['', undefined]],
  [' Name ', ['name', undefined]],
  ['name=', ['name', '']],
  [' Name = "a\\"b" ', ['name', 'a"b']],
  ['name=a=b', ['name', 'a=b']],
  ['name="', ['name', '"']],
])('parses the parameter %j', (text, parameter) => {
  expect(parseParameter(text)).toEqual(parameter)
})
