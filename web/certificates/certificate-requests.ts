import { type QueryClient, useQueryClient } from '@tanstack/react-query'
import type { CertificateInput, CertificateRecord } from '../../server/contract/certificate.ts'
import { api, ignoreMissing, readJson } from '../api/client.ts'
import { useReportedMutation } from '../shared/reports/use-reported-mutation.ts'
import { showToast } from '../shared/toast/toast.ts'
import { certificatesQuery } from './queries.ts'

const routes = api._api.certificate
const route = routes[':name']

interface CertificateSave {
  readonly name: string
  readonly input: CertificateInput
  /** The certificate to replace, which must have the same revision; otherwise there must be none. */
  readonly replaced?: Pick<CertificateRecord, 'revision'> | undefined
}

const ifMatch = ({ revision }: Pick<CertificateRecord, 'revision'>) => ({
  headers: { 'If-Match': `"${revision}"` },
})

const refetch = (client: QueryClient) =>
  client.invalidateQueries({ queryKey: certificatesQuery.queryKey })

/** What was done: "Certificate web renewed". */
type Done = 'added' | 'replaced' | 'renewed'

/** Adds, replaces or renews a certificate. */
export function useSaveCertificate(done: Done) {
  const queryClient = useQueryClient()
  return useReportedMutation({
    change: ({ name }: CertificateSave) => ({ what: `Certificate ${name}`, done }),
    mutationFn: async ({ name, input, replaced }) => {
      if (replaced === undefined) await readJson(routes.$post({ json: { name, ...input } }))
      else await readJson(route.$put({ param: { name }, json: input }, ifMatch(replaced)))
    },
    onSuccess: (_, { name }) => showToast({ text: `Certificate ${name} ${done}`, name }),
    onSettled: () => refetch(queryClient),
  })
}

/** Deletes a certificate. A rejection refetches the endpoints that use it. */
export function useDeleteCertificate() {
  const queryClient = useQueryClient()
  return useReportedMutation({
    change: ({ name }: CertificateRecord) => ({ what: `Certificate ${name}`, done: 'deleted' }),
    mutationFn: ({ name, revision }) =>
      ignoreMissing(readJson(route.$delete({ param: { name } }, ifMatch({ revision })))),
    onSuccess: (_, { name }) => showToast({ text: `Certificate ${name} deleted`, name }),
    onSettled: () => refetch(queryClient),
  })
}
