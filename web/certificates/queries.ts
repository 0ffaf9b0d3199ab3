import { queryOptions } from '@tanstack/react-query'
import type { CertificateRecord } from '../../server/contract/certificate.ts'
import { api, readJson } from '../api/client.ts'

/** A certificate, and the last order of it if ACME obtains it. */
export interface Certificate extends Omit<CertificateRecord, 'kind'> {
  readonly kind: CertificateRecord['kind'] | 'acme'
  readonly order?: {
    readonly state: 'pending' | 'failed' | 'valid'
    readonly reason?: string
    /** ISO 8601. */
    readonly nextAttempt?: string
  }
}

/** All certificates with the endpoints that use them, for operators. */
export const certificatesQuery = queryOptions({
  queryKey: ['certificate'],
  queryFn: ({ signal }): Promise<readonly Certificate[]> =>
    readJson(api._api.certificate.$get({}, { init: { signal } })),
})
