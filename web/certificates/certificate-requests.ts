import { useQueryClient } from '@tanstack/react-query'
import type { CertificateInput, CertificateRecord } from '../../server/contract/certificate.ts'
import { api, ignoreMissing, readJson } from '../api/client.ts'
import { useReportedMutation } from '../shared/reports/use-reported-mutation.ts'
import { showToast } from '../shared/toast/toast.ts'
import type { toCertificateInput } from './certificate-draft.ts'
import { certificatesQuery } from './queries.ts'

interface CertificateSave {
  readonly name: string
  readonly input: ReturnType<typeof toCertificateInput>
  /** The certificate to replace, which must have the same revision; otherwise there must be none. */
  readonly replaced?: Pick<CertificateRecord, 'revision'> | undefined
}

/** What was done: "Certificate web renewed". */
type Done = 'added' | 'replaced' | 'renewed'

/** Adds, replaces or renews a certificate. */
export function useSaveCertificate(done: Done) {
  const queryClient = useQueryClient()
  return useReportedMutation({
    change: ({ name }: CertificateSave) => ({ what: `Certificate ${name}`, done }),
    mutationFn: async ({ name, input, replaced }) => {
      const json = input as CertificateInput
      if (replaced === undefined) {
        await readJson(api._api.certificate.$post({ json: { name, ...json } }))
        return
      }
      const headers = { 'If-Match': `"${replaced.revision}"` }
      await readJson(api._api.certificate[':name'].$put({ param: { name }, json }, { headers }))
    },
    onSuccess: (_, { name }) => showToast({ text: `Certificate ${name} ${done}`, name }),
    onSettled: () => queryClient.invalidateQueries({ queryKey: certificatesQuery.queryKey }),
  })
}

/** Deletes a certificate. A rejection refetches the endpoints that use it. */
export function useDeleteCertificate() {
  const queryClient = useQueryClient()
  return useReportedMutation({
    change: ({ name }: CertificateRecord) => ({ what: `Certificate ${name}`, done: 'deleted' }),
    mutationFn: ({ name, revision }) =>
      ignoreMissing(
        readJson(
          api._api.certificate[':name'].$delete(
            { param: { name } },
            { headers: { 'If-Match': `"${revision}"` } },
          ),
        ),
      ),
    onSuccess: (_, { name }) => showToast({ text: `Certificate ${name} deleted`, name }),
    onSettled: () => queryClient.invalidateQueries({ queryKey: certificatesQuery.queryKey }),
  })
}
