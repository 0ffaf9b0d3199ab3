import type { CertificateRecord } from '../../server/contract/certificate.ts'
import { expiryOf } from '../../server/contract/certificate-expiry.ts'
import { formatTimeLeft } from '../ui/text/relative-time.tsx'

/** Returns a warning about the certificate that ends first: "certificate expires in 6 d", or ''. */
export function formatCertificateWarning(
  certificates: readonly Pick<CertificateRecord, 'current' | 'error' | 'order'>[],
  now: number,
): string {
  const ends = certificates.flatMap(({ current }) => current ?? [])
  const first = ends.toSorted((a, b) => Date.parse(a.notAfter) - Date.parse(b.notAfter))[0]
  const expiry = first === undefined ? 'valid' : expiryOf(first, now)
  if (expiry === 'expired') return 'certificate expired'
  if (certificates.some(({ error, order }) => error ?? order?.state === 'failed')) {
    return 'certificate not renewed'
  }
  if (first === undefined || expiry === 'valid') return ''
  return `certificate expires ${formatTimeLeft(Date.parse(first.notAfter) - now)}`
}
