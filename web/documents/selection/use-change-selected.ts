import { useMutation, useQueryClient } from '@tanstack/react-query'
import { collectionsQuery } from '../../app/queries.ts'
import { announce } from '../../shared/ui/feedback/announce.tsx'
import { documentsKey, listKey } from '../queries.ts'
import type { CollectionRef } from '../use-documents-location.ts'
import type { SelectionOutcome } from './change-selected.ts'
import { describeOutcome } from './describe-outcome.ts'

/** Runs a change of several documents, announces its outcome, and reloads the collection. */
export function useChangeSelected(collectionRef: CollectionRef) {
  const queryClient = useQueryClient()
  return useMutation({
    mutationFn: (change: () => Promise<SelectionOutcome>) => change(),
    onSuccess: (outcome) => {
      announce(describeOutcome(outcome))
      queryClient.removeQueries({ queryKey: [...documentsKey(collectionRef), 'one'] })
      void queryClient.invalidateQueries({ queryKey: listKey(collectionRef) })
      void queryClient.invalidateQueries({
        queryKey: collectionsQuery(collectionRef.database).queryKey,
      })
    },
  })
}
