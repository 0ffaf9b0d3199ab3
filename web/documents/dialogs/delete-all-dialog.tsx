import { useQuery } from '@tanstack/react-query'
import { collectionsQuery } from '../../app/queries.ts'
import { formatBytes, formatCount } from '../../shared/ui/text/format-bytes.ts'
import { useDeleteAllDocuments } from '../mutations/delete-all-documents.ts'
import { type CollectionRef, useDocumentsLocation } from '../use-documents-location.ts'
import { DeleteManyDialog } from './delete-many-dialog.tsx'

/** Asks the user to type the name of a collection before all its documents are deleted. */
export function DeleteAllDialog({ collectionRef }: { collectionRef: CollectionRef }) {
  const { database, collection } = collectionRef
  const { close, follow } = useDocumentsLocation()
  const { data: collections } = useQuery(collectionsQuery(database))
  const remove = useDeleteAllDocuments()
  const size = collections?.find(({ name }) => name === collection)
  const { documents = null, bytes = null } = size ?? {}
  return (
    <DeleteManyDialog
      title={`Delete all documents of ${collection}?`}
      collection={collection}
      label="Delete all documents"
      deletion={remove}
      onDelete={() => remove.mutate(collectionRef, { onSuccess: follow })}
      onClose={close}
    >
      <p>
        {documents === null || bytes === null
          ? 'Every document in it is deleted'
          : `${formatCount(documents)} document${documents === 1 ? '' : 's'} (${formatBytes(bytes)}) of ${database} ${documents === 1 ? 'is' : 'are'} deleted`}{' '}
        permanently, including those that the filter hides. The schema of the collection is kept.
      </p>
    </DeleteManyDialog>
  )
}
