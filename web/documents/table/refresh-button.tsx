import { Button } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { announce } from '../../shared/ui/feedback/announce.tsx'
import { IconRefresh } from '../../shared/ui/icon/icons.tsx'
import { listKey } from '../queries.ts'
import type { CollectionRef } from '../use-documents-location.ts'

/** Returns a function that refetches the documents that are shown, and their count. */
function useRefresh(collectionRef: CollectionRef): () => void {
  const queryClient = useQueryClient()
  return () =>
    void queryClient
      .invalidateQueries({ queryKey: listKey(collectionRef) }, { throwOnError: true })
      .then(
        () => announce('The documents are up to date.'),
        // The page reports why they could not be updated.
        () => {},
      )
}

/** Button that refetches the documents, because they have no live events. */
export function RefreshButton({ collectionRef }: { collectionRef: CollectionRef }) {
  const refresh = useRefresh(collectionRef)
  return (
    <Button
      variant="default"
      px={8}
      aria-label="Refresh documents"
      data-tip="Refresh documents"
      onClick={refresh}
    >
      <IconRefresh />
    </Button>
  )
}
