import { queryOptions } from '@tanstack/react-query'
import type { CertificateRecord } from '../../server/contract/certificate.ts'
import { api, readJson } from '../api/client.ts'

/** All certificates with the endpoints that use them, for operators. */
export const certificatesQuery = queryOptions({
  queryKey: ['certificate'],
  queryFn: ({ signal }): Promise<readonly CertificateRecord[]> =>
    readJson(api._api.certificate.$get({}, { init: { signal } })),
})
