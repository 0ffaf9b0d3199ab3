import { randomBytes } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { createVault } from './vault.ts'

describe('createVault', () => {
  const key = randomBytes(32)
  const vault = createVault(key)

  it('opens what it has sealed, and seals the same secret otherwise each time', () => {
    const sealed = vault.encrypt('sécret', 'sessions/1/access')
    expect(vault.decrypt(sealed, 'sessions/1/access')).toBe('sécret')
    expect(vault.encrypt('sécret', 'sessions/1/access')).not.toBe(sealed)
    expect(sealed).not.toContain('cret')
  })

  it('does not open a ciphertext that was moved to another row', () => {
    const sealed = vault.encrypt('one', 'sessions/1/access')
    expect(() => vault.decrypt(sealed, 'sessions/2/access')).toThrow()
    expect(() => vault.decrypt(sealed, 'sessions/1/refresh')).toThrow()
  })

  it('does not open an altered text, or one of another key', () => {
    const sealed = vault.encrypt('one', 'a')
    const at = sealed.length - 3
    const altered = sealed.slice(0, at) + (sealed[at] === 'A' ? 'B' : 'A') + sealed.slice(at + 1)
    expect(() => vault.decrypt(altered, 'a')).toThrow()
    expect(() => vault.decrypt('', 'a')).toThrow()
    expect(() => createVault(randomBytes(32)).decrypt(sealed, 'a')).toThrow('another key')
  })

  it('refuses a key that has not 32 bytes', () => {
    expect(() => createVault(randomBytes(16))).toThrow(RangeError)
  })
})
