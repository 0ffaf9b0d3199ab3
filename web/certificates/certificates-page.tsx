import { useQuery } from '@tanstack/react-query'
import { Link, Outlet } from '@tanstack/react-router'
import { lazy } from 'react'
import type { CertificateRecord } from '../../server/contract/certificate.ts'
import { useHasRole } from '../api/session/person.ts'
import { useOwnRole } from '../shared/session/role-labels.ts'
import { LazyBoundary } from '../ui/feedback/lazy-boundary.tsx'
import { Notice } from '../ui/feedback/notice.tsx'
import { QueryResult } from '../ui/feedback/query-result.tsx'
import { AddButton } from '../ui/form/add-button.tsx'
import { PageHead } from '../ui/layout/page-head.tsx'
import { usePageTitle } from '../ui/layout/use-page-title.ts'
import { UnavailableDialog } from '../ui/overlay/unavailable-dialog.tsx'
import { CertificateTable } from './certificate-table.tsx'
import classes from './certificates.module.css'
import { DeleteCertificateDialog } from './delete-certificate-dialog.tsx'
import { certificatesQuery } from './queries.ts'
import { TrustRoot } from './trust-root.tsx'
import { useCertificatesLocation } from './use-certificates-location.ts'

const CertificateDialog = lazy(async () => ({
  default: (await import('./certificate-dialog.tsx')).CertificateDialog,
}))

/** The Certificates page for operators. Others see a notice. */
export function CertificatesPage() {
  const mayRead = useHasRole('operator')
  const ownRole = useOwnRole()
  const { add } = useCertificatesLocation()
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
  const { search } = useCertificatesLocation()
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
              isRemoval={named === search.remove}
            />
          )}
          <Outlet />
        </>
      )}
    </QueryResult>
  )
}

/** The dialog that replaces or deletes a certificate, which may not exist. */
function NamedDialog(props: { certificate: CertificateRecord | undefined; isRemoval: boolean }) {
  const { certificate, isRemoval } = props
  const { close } = useCertificatesLocation()
  if (isRemoval) return <DeleteCertificateDialog certificate={certificate} />
  if (certificate === undefined || certificate.readOnly) {
    return (
      <UnavailableDialog
        title={certificate ? 'It cannot be replaced here' : 'Certificate not found'}
        onClose={close}
      >
        {certificate
          ? 'This certificate comes from the command line of Gatehouse.'
          : 'It was deleted or never existed.'}
      </UnavailableDialog>
    )
  }
  return (
    <LazyBoundary>
      <CertificateDialog replaced={certificate} onClose={close} onSaved={close} />
    </LazyBoundary>
  )
}

/** The dialog of the page `/certificates/new`. */
export function AddCertificateOutlet() {
  const { close, show } = useCertificatesLocation()
  return (
    <LazyBoundary>
      <CertificateDialog onClose={close} onSaved={show} />
    </LazyBoundary>
  )
}
