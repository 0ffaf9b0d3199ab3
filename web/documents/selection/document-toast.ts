import type { QueryClient } from '@tanstack/react-query'
import { collectionsQuery } from '../../app/queries.ts'
import { showToast, type ToastOptions } from '../../shared/toast/toast.ts'
import { documentsKey, listKey } from '../queries.ts'
import type { CollectionRef } from '../use-documents-location.ts'
import { type SelectionOutcome, undoChanges } from './change-selected.ts'
import { describeOutcome } from './describe-outcome.ts'

const preventUnload = (event: BeforeUnloadEvent) => event.preventDefault()

/** Shows the outcome of a change of documents with Undo, and reloads the collection. */
export function settleChange(
  queryClient: QueryClient,
  collectionRef: CollectionRef,
  outcome: SelectionOutcome,
): void {
  reload(queryClient, collectionRef)
  showToast(changeToast(queryClient, collectionRef, outcome))
}

/** Returns the toast of a change of documents. */
function changeToast(
  queryClient: QueryClient,
  collectionRef: CollectionRef,
  outcome: SelectionOutcome,
): ToastOptions {
  const { changes } = outcome
  const undo = async (): Promise<ToastOptions> => {
    // Not `useBlocker`: the undo continues on other pages.
    window.addEventListener('beforeunload', preventUnload)
    try {
      const undone = await undoChanges(collectionRef, changes)
      reload(queryClient, collectionRef)
      const failed = new Set(undone.failures.map(({ id }) => id))
      const left = changes.filter(({ before }) => failed.has(before.id))
      const again = changeToast(queryClient, collectionRef, { ...undone, changes: left })
      return { ...again, text: describeOutcome(undone), undoLabel: 'Undo again' }
    } finally {
      window.removeEventListener('beforeunload', preventUnload)
    }
  }
  return {
    text: describeOutcome(outcome),
    failures: outcome.failures.map(({ id, reason }) => ({ name: id, reason })),
    ...(changes.length > 0 && { undo }),
  }
}

function reload(queryClient: QueryClient, collectionRef: CollectionRef): void {
  queryClient.removeQueries({ queryKey: [...documentsKey(collectionRef), 'one'] })
  void queryClient.invalidateQueries({ queryKey: listKey(collectionRef) })
  void queryClient.invalidateQueries({
    queryKey: collectionsQuery(collectionRef.database).queryKey,
  })
}
