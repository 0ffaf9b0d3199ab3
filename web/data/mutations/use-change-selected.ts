import { useQueryClient } from '@tanstack/react-query'
import { useBlocker } from '@tanstack/react-router'
import { useRef } from 'react'
import { useSingleMutation } from '../../shared/forms/use-single-mutation.ts'
import { type CollectionRef, useDataLocation } from '../use-data-location.ts'
import type { SelectionOutcome } from './change-selected.ts'
import { settleChange } from './document-toast.ts'

/**
 * Runs a change of documents, shows its outcome with Undo, and reloads the collection. Its dialog
 * stays open until it ends, because leaving would lose the outcome.
 */
export function useChangeSelected(collectionRef: CollectionRef) {
  const queryClient = useQueryClient()
  const { search } = useDataLocation()
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
