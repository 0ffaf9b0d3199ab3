import { useQuery } from '@tanstack/react-query'
import { lazy, type ReactNode, Suspense } from 'react'
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
import { documentFormQuery, documentQuery } from '../queries.ts'
import { DeleteManyDialog } from '../selection/delete-many-dialog.tsx'
import { describeMatching, useMatchingCount } from '../selection/describe-matching.ts'
import { type CollectionRef, useDataLocation } from '../use-data-location.ts'
import { DeleteDocumentDialog } from './delete-document-dialog.tsx'
import { JobDialog } from './job-dialog.tsx'

// Loaded on demand, because these dialogs are large.
const CreateDocumentDialog = lazy(async () => ({
  default: (await import('./create-document-dialog.tsx')).CreateDocumentDialog,
}))
const DocumentDialog = lazy(async () => ({
  default: (await import('./document-dialog.tsx')).DocumentDialog,
}))
const ImportDocumentsDialog = lazy(async () => ({
  default: (await import('../import/import-documents-dialog.tsx')).ImportDocumentsDialog,
}))
const EditDocumentDialog = lazy(async () => ({
  default: (await import('./edit-document-dialog.tsx')).EditDocumentDialog,
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
    return <CreateDocumentDialog database={database} collection={collection} />
  }
  if (search.import !== undefined) {
    return <ImportDocumentsDialog database={database} collection={collection} />
  }
  if (collection !== undefined && empty !== undefined) {
    return <DeleteAllDialog collectionRef={{ database, collection }} />
  }
  const id = open ?? edit ?? remove
  if (collection === undefined || id === undefined) return null
  const action = open !== undefined ? 'open' : edit !== undefined ? 'edit' : 'remove'
  return (
    <OneDocument
      key={`${action} ${id}`}
      collectionRef={{ database, collection }}
      id={id}
      action={action}
    />
  )
}

const dialogs = { open: DocumentDialog, edit: EditDocumentDialog, remove: DeleteDocumentDialog }

function OneDocument(props: {
  collectionRef: CollectionRef
  id: string
  action: keyof typeof dialogs
}) {
  const { collectionRef, id, action } = props
  const { close } = useDataLocation()
  const queryOf = action === 'open' ? documentQuery : documentFormQuery
  const { data, error, refetch } = useQuery(queryOf(collectionRef, id))
  const ActionDialog = dialogs[action]
  const isGone = error instanceof ApiFailure && error.status === 404
  const inDialog = (content: ReactNode) => (
    <Dialog title={`Document ${id}`} name={id} width={720} onClose={close}>
      {content}
    </Dialog>
  )
  const loading = inDialog(<SkeletonRows what="the document" />)
  // A form keeps its input; saving reports that the document was deleted.
  if (data !== undefined && !(isGone && action === 'open')) {
    return (
      // The dialog stays open while its code is loading, so that Escape closes it.
      <Suspense fallback={loading}>
        <ActionDialog collectionRef={collectionRef} document={data} />
      </Suspense>
    )
  }
  if (error === null) return loading
  if (isGone) {
    return (
      <UnavailableDialog title={`There is no document ${id}`} name={id} onClose={close}>
        {/* The message of the server repeats the title. */}
        {error.id === 'not_found' ? 'It was deleted or never existed.' : error.message}
      </UnavailableDialog>
    )
  }
  return inDialog(<LoadFailure what="The document" error={error} onRetry={refetch} />)
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
