import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { DEFAULT_CERTIFICATE } from '../../server/contract/certificate.ts'
import { useClock } from '../ui/text/use-clock.ts'
import { formatCertificateWarning } from './expiry.ts'
import { certificatesQuery } from './queries.ts'

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
