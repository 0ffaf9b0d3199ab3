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
