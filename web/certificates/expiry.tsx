import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import {
  type CertificateInfo,
  type CertificateRecord,
  DEFAULT_CERTIFICATE,
} from '../../server/contract/certificate.ts'
import { formatTimeLeft } from '../ui/text/relative-time.tsx'
import { useClock } from '../ui/text/use-clock.ts'
import { certificatesQuery } from './queries.ts'

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
