import { type QueryClient, useQueryClient } from '@tanstack/react-query'
import { useBlocker } from '@tanstack/react-router'
import { useRef } from 'react'
import { collectionsQuery } from '../../app/queries.ts'
import { useSingleMutation } from '../../shared/forms/use-single-mutation.ts'
import { announce } from '../../shared/ui/feedback/announce.tsx'
import { documentsKey, listKey } from '../queries.ts'
import { type CollectionRef, useDocumentsLocation } from '../use-documents-location.ts'
import type { SelectionOutcome } from './change-selected.ts'
import { describeOutcome } from './describe-outcome.ts'

/**
 * Runs a change of documents, announces its outcome, and reloads the collection. Its dialog
 * stays open until it ends, because leaving would lose the outcome.
 */
export function useChangeSelected(collectionRef: CollectionRef) {
  const queryClient = useQueryClient()
  const { search } = useDocumentsLocation()
  // Not `isPending`, which is still true when the outcome closes the dialog.
  const isRunning = useRef(false)
  useBlocker({
    shouldBlockFn: () => isRunning.current && (search.bulk ?? search.remove) !== undefined,
    enableBeforeUnload: () => isRunning.current,
  })
  return useSingleMutation({
    mutationFn: async (change: () => Promise<SelectionOutcome>) => {
      isRunning.current = true
      try {
        return await change()
      } finally {
        isRunning.current = false
      }
    },
    onSuccess: (outcome) => settleChange(queryClient, collectionRef, outcome),
  })
}

/** Announces the outcome of a change of documents, and reloads the collection. */
export function settleChange(
  queryClient: QueryClient,
  collectionRef: CollectionRef,
  outcome: SelectionOutcome,
): void {
  announce(describeOutcome(outcome))
  queryClient.removeQueries({ queryKey: [...documentsKey(collectionRef), 'one'] })
  void queryClient.invalidateQueries({ queryKey: listKey(collectionRef) })
  void queryClient.invalidateQueries({
    queryKey: collectionsQuery(collectionRef.database).queryKey,
  })
}
