import { useQuery } from '@tanstack/react-query'
import { NoResponse } from '../../app/api.ts'
import { collectionsQuery } from '../../app/queries.ts'
import { TypedConfirmDialog } from '../../shared/ui/overlay/typed-confirm-dialog.tsx'
import { formatBytes, formatCount } from '../../shared/ui/text/format-bytes.ts'
import { useDeleteAllDocuments } from '../mutations/delete-all-documents.ts'
import { type CollectionRef, useDocumentsLocation } from '../use-documents-location.ts'

/** Asks the user to type the name of a collection before all its documents are deleted. */
export function DeleteAllDialog({ collectionRef }: { collectionRef: CollectionRef }) {
  const { database, collection } = collectionRef
  const { close, follow } = useDocumentsLocation()
  const { data: collections } = useQuery(collectionsQuery(database))
  const remove = useDeleteAllDocuments()
  const size = collections?.find(({ name }) => name === collection)
  const { documents = null, bytes = null } = size ?? {}
  return (
    <TypedConfirmDialog
      title={`Delete all documents of ${collection}?`}
      name={collection}
      effect="delete them"
      mismatch={`Type ${collection} exactly as shown to delete its documents.`}
      keep="Keep them"
      error={
        remove.error instanceof NoResponse
          ? `${remove.error.message} The deletion may or may not have started. Check before you try again.`
          : (remove.error?.message ?? '')
      }
      confirm={{
        label: 'Delete all documents',
        busy: remove.isPending,
        run: () => remove.mutate(collectionRef, { onSuccess: follow }),
      }}
      onClose={close}
    >
      <p>
        {documents === null || bytes === null
          ? 'Every document in it is deleted'
          : `${formatCount(documents)} document${documents === 1 ? '' : 's'} (${formatBytes(bytes)}) of ${database} ${documents === 1 ? 'is' : 'are'} deleted`}{' '}
        permanently, including those that the filter hides. The schema of the collection is kept.
      </p>
    </TypedConfirmDialog>
  )
}
