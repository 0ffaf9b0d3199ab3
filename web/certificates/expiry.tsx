import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { type CertificateRecord, DEFAULT_CERTIFICATE } from '../../server/contract/certificate.ts'
import { expiryOf } from '../../server/contract/certificate-expiry.ts'
import { formatTimeLeft } from '../ui/text/relative-time.tsx'
import { useClock } from '../ui/text/use-clock.ts'
import { certificatesQuery } from './queries.ts'

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

export interface CertificateWarningProps {
  /** The certificates of an endpoint. Default: the one for endpoints without a choice. */
  readonly names?: readonly string[] | undefined
  /** Renders the warning about the certificate that ends first; '' if there is none. */
  readonly children: (warning: string) => ReactNode
}

/** Watches the certificates of an endpoint, for operators. */
export function CertificateWarning({ names = NAMES, children }: CertificateWarningProps) {
  const { data = [] } = useQuery(certificatesQuery)
  const certificates = data.filter(({ name }) => names.includes(name))
  return children(useClock((now) => formatCertificateWarning(certificates, now)))
}

const NAMES = [DEFAULT_CERTIFICATE]
