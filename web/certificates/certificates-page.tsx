import { useQuery } from '@tanstack/react-query'
import { Link, Outlet } from '@tanstack/react-router'
import { lazy } from 'react'
import type { CertificateRecord } from '../../server/contract/certificate.ts'
import { useHasRole } from '../api/session/person.ts'
import { useOwnRole } from '../shared/session/role-labels.ts'
import { useRecordLocation } from '../shared/use-record-location.ts'
import { LazyBoundary } from '../ui/feedback/lazy-boundary.tsx'
import { Notice } from '../ui/feedback/notice.tsx'
import { QueryResult } from '../ui/feedback/query-result.tsx'
import { AddButton } from '../ui/form/add-button.tsx'
import { PageHead } from '../ui/layout/page-head.tsx'
import { usePageTitle } from '../ui/layout/use-page-title.ts'
import { ConfirmDialog } from '../ui/overlay/confirm-dialog.tsx'
import { UnavailableDialog } from '../ui/overlay/unavailable-dialog.tsx'
import { useDeleteCertificate } from './certificate-requests.ts'
import { CertificateTable, EndpointList } from './certificate-table.tsx'
import classes from './certificates.module.css'
import { certificatesQuery } from './queries.ts'
import { TrustRoot } from './trust-root.tsx'

const CertificateDialog = lazy(async () => ({
  default: (await import('./certificate-dialog.tsx')).CertificateDialog,
}))

/** The Certificates page for operators. Others see a notice. */
export function CertificatesPage() {
  const mayRead = useHasRole('operator')
  const ownRole = useOwnRole()
  const { add } = useRecordLocation('/certificates')
  usePageTitle('Certificates')
  return (
    <>
      <PageHead
        title="Certificates"
        action={mayRead && <AddButton onClick={add}>Add certificate</AddButton>}
      />
      {mayRead ? (
        <Certificates />
      ) : (
        <Notice action={<Link to="/endpoints">Go to Endpoints</Link>}>
          {ownRole}. Only operators and admins can see and change certificates.
        </Notice>
      )}
    </>
  )
}

function Certificates() {
  const { search } = useRecordLocation('/certificates')
  const named = search.replace ?? search.remove
  return (
    <QueryResult query={useQuery(certificatesQuery)} what="the certificates">
      {(certificates) => (
        <>
          {certificates.length === 0 ? (
            <Notice>
              There are no certificates yet. An endpoint needs one to encrypt its connections. Add
              one that Gatehouse issues itself, or one of a public authority.
            </Notice>
          ) : (
            <CertificateTable certificates={certificates} />
          )}
          {certificates.some(({ kind }) => kind === 'local') && (
            <div className={classes.trust}>
              <TrustRoot />
            </div>
          )}
          {named !== undefined && (
            <NamedDialog
              key={named}
              certificate={certificates.find(({ name }) => name === named)}
            />
          )}
          <Outlet />
        </>
      )}
    </QueryResult>
  )
}

/** The dialog that replaces or deletes a certificate, which may not exist. */
function NamedDialog({ certificate }: { certificate: CertificateRecord | undefined }) {
  const { search, close } = useRecordLocation('/certificates')
  if (search.remove !== undefined) return <DeleteCertificateDialog certificate={certificate} />
  if (certificate === undefined) return <NotFound onClose={close} />
  return (
    <LazyBoundary>
      <CertificateDialog replaced={certificate} onClose={close} onSaved={close} />
    </LazyBoundary>
  )
}

const NotFound = ({ onClose }: { onClose: () => void }) => (
  <UnavailableDialog title="Certificate not found" onClose={onClose}>
    It was deleted or never existed.
  </UnavailableDialog>
)

/** The dialog of the page `/certificates/new`. */
export function AddCertificateOutlet() {
  const { close, show } = useRecordLocation('/certificates')
  return (
    <LazyBoundary>
      <CertificateDialog onClose={close} onSaved={show} />
    </LazyBoundary>
  )
}

/** Asks for confirmation before a certificate is deleted, unless endpoints use it. */
function DeleteCertificateDialog({ certificate }: { certificate: CertificateRecord | undefined }) {
  const { close, closeRemoved } = useRecordLocation('/certificates')
  const remove = useDeleteCertificate()
  if (certificate === undefined) return remove.isIdle ? <NotFound onClose={close} /> : null
  const { name, endpoints, kind } = certificate
  if (endpoints.length > 0) {
    return (
      <ConfirmDialog title={`${name} cannot be deleted`} name={name} keep="Close" onClose={close}>
        <p>
          {endpoints.length === 1 ? 'An endpoint uses' : `${endpoints.length} endpoints use`} this
          certificate. Choose another in their policies first.
        </p>
        <EndpointList endpoints={endpoints} />
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
