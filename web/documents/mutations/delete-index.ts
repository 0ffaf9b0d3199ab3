import { useQueryClient } from '@tanstack/react-query'
import { ignoreMissing, requireOk } from '../../api/client.ts'
import { useReportedMutation } from '../../shared/reports/use-reported-mutation.ts'
import { showToast } from '../../shared/toast/toast.ts'
import { collectionClient } from '../document-client.ts'
import { indexesQuery } from '../queries.ts'
import { type CollectionRef, formatCollection } from '../use-documents-location.ts'

function deleteIndex(collectionRef: CollectionRef, name: string): Promise<void> {
  const { param, indexes } = collectionClient(collectionRef)
  return ignoreMissing(
    requireOk(
      indexes[':name'].$delete(
        { param: { ...param, name: encodeURIComponent(name) } },
        { headers: { Prefer: 'return=minimal' } },
      ),
    ),
  )
}

/** Deletes an index. */
export function useDeleteIndex(collectionRef: CollectionRef) {
  const queryClient = useQueryClient()
  return useReportedMutation({
    mutationFn: (name: string) => deleteIndex(collectionRef, name),
    change: (name) => ({
      what: `The index ${name} of ${formatCollection(collectionRef)}`,
      done: 'deleted',
    }),
    onSuccess: (_, name) => {
      showToast({ text: `Index ${name} deleted`, name })
      return queryClient.invalidateQueries(indexesQuery(collectionRef))
    },
  })
}
