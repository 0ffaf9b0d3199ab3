import { randomBytes } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { createVault } from './vault.ts'

describe('createVault', () => {
  const key = randomBytes(32)
  const vault = createVault(key)

  it('decrypts what it encrypted, and encrypts the same secret differently each time', () => {
    const sealed = vault.encrypt('sécret', 'sessions/1/access')
    expect(vault.decrypt(sealed, 'sessions/1/access')).toBe('sécret')
    expect(vault.encrypt('sécret', 'sessions/1/access')).not.toBe(sealed)
    expect(sealed).not.toContain('cret')
  })

  it('uses each nonce once', () => {
    const nonces = Array.from({ length: 2_000 }, () => {
      const [, data = ''] = vault.encrypt('same', 'a').split('.')
      return Buffer.from(data, 'base64url').subarray(0, 12).toString('hex')
    })
    expect(new Set(nonces).size).toBe(nonces.length)
  })

  it('rejects a ciphertext that was moved to another row', () => {
    const sealed = vault.encrypt('one', 'sessions/1/access')
    expect(() => vault.decrypt(sealed, 'sessions/2/access')).toThrow()
    expect(() => vault.decrypt(sealed, 'sessions/1/refresh')).toThrow()
  })

  it('rejects an altered text and one of another key', () => {
    const sealed = vault.encrypt('one', 'a')
    const at = sealed.length - 3
    const altered = sealed.slice(0, at) + (sealed[at] === 'A' ? 'B' : 'A') + sealed.slice(at + 1)
    expect(() => vault.decrypt(altered, 'a')).toThrow()
    expect(() => vault.decrypt('', 'a')).toThrow()
    for (const other of [`${sealed}=`, `${sealed}.`, `${sealed}~`, `${sealed} `]) {
      expect(() => vault.decrypt(other, 'a')).toThrow('not base64url')
    }
    expect(() => createVault(randomBytes(32)).decrypt(sealed, 'a')).toThrow('another key')
  })

  it('rejects a key of another length than 32 bytes', () => {
    expect(() => createVault(randomBytes(16))).toThrow(RangeError)
  })
})
