import { useQuery } from '@tanstack/react-query'
import { lazy } from 'react'
import { ApiFailure } from '../api.ts'
import { useMay } from '../person.ts'
import { ConfirmDialog } from '../ui/confirm-dialog.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { LoadFailure } from '../ui/load-failure.tsx'
import { SkeletonRows } from '../ui/skeleton-rows.tsx'
import { DeleteAllDialog } from './delete-all-dialog.tsx'
import { DeleteDocumentDialog } from './delete-document-dialog.tsx'
import { JobDialog } from './job-dialog.tsx'
import { documentQuery } from './queries.ts'
import { UploadDialog } from './upload-dialog.tsx'
import { type Place, useDocumentsLocation } from './use-documents-location.ts'

// The editor comes with the dialogs that need it.
const CreateDocumentDialog = lazy(async () => ({
  default: (await import('./create-document-dialog.tsx')).CreateDocumentDialog,
}))
const DocumentDialog = lazy(async () => ({
  default: (await import('./document-dialog.tsx')).DocumentDialog,
}))
const EditDocumentDialog = lazy(async () => ({
  default: (await import('./edit-document-dialog.tsx')).EditDocumentDialog,
}))

/** The dialogs of the Documents page, as the URL names them. */
export function DocumentDialogs(props: { database: string; collection: string | undefined }) {
  const { database, collection } = props
  const { search, close } = useDocumentsLocation()
  const mayChange = useMay('operator')
  const { open, edit, remove, create, upload, empty, job } = search
  if (job !== undefined) return <JobDialog key={job} database={database} id={job} />
  const changing = [create, edit, remove, upload, empty].some((each) => each !== undefined)
  if (!mayChange && changing) {
    return (
      <ConfirmDialog title="You are a viewer" keep="Back to the list" onClose={close}>
        <p>Documents are changed by operators and admins. An admin can give you that role.</p>
      </ConfirmDialog>
    )
  }
  if (create !== undefined) {
    return <CreateDocumentDialog database={database} collection={collection} />
  }
  if (collection !== undefined && upload !== undefined) {
    return <UploadDialog place={{ database, collection }} />
  }
  if (collection !== undefined && empty !== undefined) {
    return <DeleteAllDialog place={{ database, collection }} />
  }
  const id = open ?? edit ?? remove
  if (collection === undefined || id === undefined) return null
  const way = open !== undefined ? 'open' : edit !== undefined ? 'edit' : 'remove'
  return <OneDocument key={`${way} ${id}`} place={{ database, collection }} id={id} way={way} />
}

const parts = { open: DocumentDialog, edit: EditDocumentDialog, remove: DeleteDocumentDialog }

function OneDocument(props: { place: Place; id: string; way: keyof typeof parts }) {
  const { place, id, way } = props
  const { close } = useDocumentsLocation()
  const { data, error, refetch } = useQuery({
    ...documentQuery(place, id),
    // What is edited or asked about stays what it was; the server tells whether it has moved on.
    refetchOnWindowFocus: way === 'open',
  })
  const Part = parts[way]
  if (data !== undefined) return <Part place={place} document={data} />
  if (error === null) {
    return (
      <Dialog title={`Document ${id}`} name={id} width={720} onClose={close}>
        <SkeletonRows what="the document" />
      </Dialog>
    )
  }
  if (error instanceof ApiFailure && error.status === 404) {
    return (
      <ConfirmDialog
        title={`There is no document ${id}`}
        name={id}
        keep="Back to the list"
        onClose={close}
      >
        <p>{error.message}</p>
      </ConfirmDialog>
    )
  }
  return (
    <Dialog title={`Document ${id}`} name={id} width={720} onClose={close}>
      <LoadFailure what="The document" error={error} onRetry={refetch} />
    </Dialog>
  )
}
