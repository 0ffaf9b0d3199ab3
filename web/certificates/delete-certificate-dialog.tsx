import type { CertificateRecord } from '../../server/contract/certificate.ts'
import { ConfirmDialog } from '../ui/overlay/confirm-dialog.tsx'
import { UnavailableDialog } from '../ui/overlay/unavailable-dialog.tsx'
import { useDeleteCertificate } from './certificate-requests.ts'
import { EndpointList } from './endpoint-list.tsx'
import { useCertificatesLocation } from './use-certificates-location.ts'

/** Asks for confirmation before a certificate is deleted, unless endpoints use it. */
export function DeleteCertificateDialog(props: { certificate: CertificateRecord | undefined }) {
  const { certificate } = props
  const { close, closeRemoved } = useCertificatesLocation()
  const remove = useDeleteCertificate()
  if (certificate === undefined) {
    if (!remove.isIdle) return null
    return (
      <UnavailableDialog title="Certificate not found" onClose={close}>
        It was deleted or never existed.
      </UnavailableDialog>
    )
  }
  const { name, endpoints, readOnly, kind } = certificate
  if (endpoints.length > 0 || readOnly) {
    return (
      <ConfirmDialog title={`${name} cannot be deleted`} name={name} keep="Close" onClose={close}>
        {readOnly ? (
          <p>
            It comes from the command line of Gatehouse. To remove it, restart Gatehouse without{' '}
            <code className="mono">--tls-cert</code>.
          </p>
        ) : (
          <>
            <p>
              {endpoints.length === 1 ? 'An endpoint uses' : `${endpoints.length} endpoints use`}{' '}
              this certificate. Choose another in their policies first.
            </p>
            <EndpointList endpoints={endpoints} />
          </>
        )}
      </ConfirmDialog>
    )
  }
  return (
    <ConfirmDialog
      title={`Delete certificate ${name}?`}
      name={name}
      keep="Keep it"
      error={remove.error?.message ?? ''}
      confirm={{
        label: 'Delete certificate',
        busy: remove.isPending,
        run: () => remove.mutate(certificate, { onSuccess: closeRemoved }),
      }}
      onClose={close}
    >
      <p>
        {kind === 'file'
          ? 'No endpoint uses it. Its files stay where they are.'
          : 'No endpoint uses it. Its private key is deleted with it. This cannot be undone.'}
      </p>
    </ConfirmDialog>
  )
}
