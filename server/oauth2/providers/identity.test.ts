import { describe, expect, it } from 'vitest'
import { nameOf } from './identity.ts'

describe('the name from a provider', () => {
  it.each([
    [{ name: ' Ada ' }, 'Ada'],
    [{ name: null, login: 'ada' }, 'ada'],
    [{ name: ' \u202E\u2066 ', preferred_username: 'ada' }, 'ada'],
    [{ name: 7 }, null],
    [null, null],
    [{ name: 'عدا שלום 艾达' }, 'عدا שלום 艾达'],
    [{ name: 'a'.repeat(200) }, 'a'.repeat(128)],
  ])('of %j is %j', (user, name) => {
    expect(nameOf(user)).toBe(name)
  })

  it('contains no line breaks and no bidirectional controls', () => {
    expect(nameOf({ name: 'Ada\u202Enimda\u2069\r\nadmin\u2028x\0' })).toBe('Ada nimda admin x')
  })

  it('is truncated between characters', () => {
    expect(nameOf({ name: `${'a'.repeat(127)}\u{1F600}` })?.isWellFormed()).toBe(true)
  })
})
