import { useQuery } from '@tanstack/react-query'
import { lazy } from 'react'
import { ApiFailure } from '../../api/client.ts'
import { useHasRole } from '../../api/session/person.ts'
import { useOwnRole } from '../../shared/session/role-labels.ts'
import { LoadFailure } from '../../ui/feedback/load-failure.tsx'
import { SkeletonRows } from '../../ui/feedback/skeleton-rows.tsx'
import { Dialog } from '../../ui/overlay/dialog.tsx'
import { UnavailableDialog } from '../../ui/overlay/unavailable-dialog.tsx'
import { capitalize } from '../../ui/text/capitalize.ts'
import { deleteMatching } from '../mutations/change-selected.ts'
import { useStartJob } from '../mutations/start-job.ts'
import { documentFormQuery } from '../queries.ts'
import { DeleteManyDialog } from '../selection/delete-many-dialog.tsx'
import { describeMatching, useMatchingCount } from '../selection/describe-matching.ts'
import { type CollectionRef, useDataLocation } from '../use-data-location.ts'
import { DeleteDocumentDialog } from './delete-document-dialog.tsx'
import { DocumentPanel } from './document-panel.tsx'
import { JobDialog } from './job-dialog.tsx'

// Loaded on demand, because these dialogs are large.
const CreateDocumentPanel = lazy(async () => ({
  default: (await import('./create-document-panel.tsx')).CreateDocumentPanel,
}))
const ImportDocumentsDialog = lazy(async () => ({
  default: (await import('../import/import-documents-dialog.tsx')).ImportDocumentsDialog,
}))

/** Renders the dialog that the URL search selects. */
export function DocumentDialogs(props: { database: string; collection: string | undefined }) {
  const { database, collection } = props
  const { search, close } = useDataLocation()
  const ownRole = useOwnRole()
  const mayChange = useHasRole('editor')
  const { open, edit, remove, create, empty, bulk, job } = search
  if (job !== undefined) return <JobDialog key={job} database={database} id={job} />
  const changing = [create, edit, remove, search.import, empty, bulk].some(
    (each) => each !== undefined,
  )
  if (!mayChange && changing) {
    return (
      <UnavailableDialog title={ownRole} onClose={close}>
        Only editors, operators and admins can change documents. Ask an admin for that role.
      </UnavailableDialog>
    )
  }
  if (bulk !== undefined) {
    // Otherwise the bar of the selection shows the dialog.
    if (search.selected !== undefined) return null
    return (
      <UnavailableDialog title="No documents are selected" onClose={close}>
        Select documents in the table to edit or delete them.
      </UnavailableDialog>
    )
  }
  if (create !== undefined) {
    return <CreateDocumentPanel database={database} collection={collection} />
  }
  if (search.import !== undefined) {
    return <ImportDocumentsDialog database={database} collection={collection} />
  }
  if (collection !== undefined && empty !== undefined) {
    return <DeleteAllDialog collectionRef={{ database, collection }} />
  }
  if (collection === undefined) return null
  const collectionRef = { database, collection }
  if (remove !== undefined) {
    return <DeleteDocument key={remove} collectionRef={collectionRef} id={remove} />
  }
  const id = open ?? edit
  if (id === undefined) return null
  return (
    <DocumentPanel key={id} collectionRef={collectionRef} id={id} isEditing={edit !== undefined} />
  )
}

function DeleteDocument({ collectionRef, id }: { collectionRef: CollectionRef; id: string }) {
  const { close } = useDataLocation()
  const { data, error, refetch } = useQuery(documentFormQuery(collectionRef, id))
  if (data !== undefined) {
    return <DeleteDocumentDialog collectionRef={collectionRef} document={data} />
  }
  if (error instanceof ApiFailure && error.status === 404) {
    return (
      <UnavailableDialog title={`There is no document ${id}`} name={id} onClose={close}>
        {/* The message of the server repeats the title. */}
        {error.id === 'not_found' ? 'It was deleted or never existed.' : error.message}
      </UnavailableDialog>
    )
  }
  return (
    <Dialog title={`Document ${id}`} name={id} width={720} onClose={close}>
      {error === null ? (
        <SkeletonRows what="the document" />
      ) : (
        <LoadFailure what="The document" error={error} onRetry={refetch} />
      )}
    </Dialog>
  )
}

/** Asks the user to type the name of a collection before all its documents are deleted. */
function DeleteAllDialog({ collectionRef }: { collectionRef: CollectionRef }) {
  const { collection } = collectionRef
  const { search, close, follow } = useDataLocation()
  const count = useMatchingCount(collectionRef, undefined)
  const remove = useStartJob(collectionRef, {
    does: 'deletes all documents',
    start: () => deleteMatching(collectionRef, []),
  })
  return (
    <DeleteManyDialog
      title={`Delete all documents in ${collection}?`}
      collection={collection}
      label="Delete all documents"
      deletion={remove}
      onDelete={() => remove.mutate(undefined, { onSuccess: follow })}
      onClose={close}
    >
      <p>
        {capitalize(describeMatching([], count))} will be deleted permanently
        {search.filter !== undefined && ', including those that the filter hides'}. The schema of
        the collection will be kept.
      </p>
    </DeleteManyDialog>
  )
}
