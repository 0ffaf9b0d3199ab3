import { expect, test } from 'vitest'
import { createSecret, hashSecret } from './secret.ts'

test('secrets are unique and safe in a URL', () => {
  const secrets = new Set(Array.from({ length: 1000 }, createSecret))
  expect(secrets.size).toBe(1000)
  for (const secret of secrets) expect(secret).toMatch(/^[0-9A-Za-z_-]{43}$/)
})

test('the hash is SHA-256', () => {
  expect(hashSecret('abc')).toBe('ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad')
})
