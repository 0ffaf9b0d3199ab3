import { describe, expect, it } from 'vitest'
import { createOperatorKey, createTokenText, isTokenText } from './secret-text.ts'

describe('createTokenText', () => {
  it('creates unique tokens that are safe in a URL', () => {
    const tokens = new Set(Array.from({ length: 1000 }, createTokenText))
    expect(tokens.size).toBe(1000)
    for (const token of tokens) {
      expect(token).toMatch(/^gh_[0-9A-Za-z]{49}$/)
      expect(isTokenText(token)).toBe(true)
      expect(new URL(`http://${token}@localhost/`).username).toBe(token)
    }
  })

  it('contains 256 bits: uses the whole alphabet at every position', () => {
    const tokens = Array.from({ length: 2000 }, createTokenText)
    // The first character holds the remainder of 256 bits beyond 62 ** 42, which has fewer than 62
    // values.
    for (let at = 4; at < 46; at++) {
      expect(new Set(tokens.map((token) => token[at])).size).toBe(62)
    }
  })
})

describe('isTokenText', () => {
  const token = createTokenText()
  it.each([...token].map((_, at) => at))('detects a changed character at %i', (at) => {
    const other = token[at] === 'x' ? 'y' : 'x'
    expect(isTokenText(token.slice(0, at) + other + token.slice(at + 1))).toBe(false)
  })

  it('rejects texts of another length or form', () => {
    for (const text of ['', token.slice(0, -1), `${token}x`, ` ${token}`, createOperatorKey()]) {
      expect(isTokenText(text)).toBe(false)
    }
  })
})
