import type { CertificateInfo } from './certificate.ts'

/** Maximum time before the end of a certificate from which it is due for renewal, ms. */
const DUE_MS = 14 * 86_400_000

/**
 * Returns whether a certificate is due for renewal: less than a third of its lifetime is left, and
 * at most 14 days.
 */
export function expiryOf(
  { notBefore, notAfter }: Pick<CertificateInfo, 'notBefore' | 'notAfter'>,
  now: number,
): 'valid' | 'due' | 'expired' {
  const end = Date.parse(notAfter)
  if (end <= now) return 'expired'
  return end - now < Math.min(DUE_MS, (end - Date.parse(notBefore)) / 3) ? 'due' : 'valid'
}
