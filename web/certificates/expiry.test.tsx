import { expect, test } from 'vitest'
import { expiryOf, formatCertificateWarning } from './expiry.tsx'

const now = Date.parse('2026-05-01T00:00:00Z')
const DAY = 86_400_000
const at = (days: number) => new Date(now + days * DAY).toISOString()

/** A certificate that was issued and ends some days from now. */
const certificate = (issued: number, end: number) => ({
  current: {
    names: ['a.example'],
    issuer: 'CA',
    notBefore: at(issued),
    notAfter: at(end),
    fingerprint: '',
    serial: '',
    keyType: '',
  },
})

test.each([
  [-300, 65, 'valid'],
  [-351, 14, 'valid'],
  [-351.1, 13.9, 'due'],
  // A third of a short lifetime comes first.
  [-4, 2, 'valid'],
  [-4.1, 1.9, 'due'],
  [-90, 0, 'expired'],
])('issued %d and ending %d days from now, a certificate is %s', (issued, end, expiry) => {
  expect(expiryOf(certificate(issued, end).current, now)).toBe(expiry)
})

test('the warning is about the certificate that ends first', () => {
  const [valid, due, expired] = [certificate(-1, 89), certificate(-84, 6), certificate(-90, -1)]
  const error = { message: 'The file cannot be read.', at: at(0) }
  expect(formatCertificateWarning([valid], now)).toBe('')
  expect(formatCertificateWarning([valid, due], now)).toBe('certificate expires in 6 d')
  expect(formatCertificateWarning([due, expired], now)).toBe('certificate expired')
  expect(formatCertificateWarning([{ ...due, error }], now)).toBe('certificate not renewed')
  expect(formatCertificateWarning([{ current: null, error }], now)).toBe('certificate not renewed')
  const order = { state: 'failed' } as const
  expect(formatCertificateWarning([{ ...valid, order }], now)).toBe('certificate not renewed')
})
