import { capitalize } from '../../shared/ui/text/capitalize.ts'
import { useStartJob } from '../mutations/start-job.ts'
import { deleteMatching } from '../selection/change-selected.ts'
import { describeMatching, useMatchingCount } from '../selection/describe-matching.ts'
import { type CollectionRef, useDocumentsLocation } from '../use-documents-location.ts'
import { DeleteManyDialog } from './delete-many-dialog.tsx'

/** Asks the user to type the name of a collection before all its documents are deleted. */
export function DeleteAllDialog({ collectionRef }: { collectionRef: CollectionRef }) {
  const { collection } = collectionRef
  const { search, close, follow } = useDocumentsLocation()
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
