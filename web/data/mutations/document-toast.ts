import type { QueryClient } from '@tanstack/react-query'
import { collectionsQuery } from '../../api/queries.ts'
import { showToast, type ToastOptions } from '../../shared/toast/toast.ts'
import type { StoredDocument } from '../document-client.ts'
import { documentQuery, documentsKey, listKey } from '../queries.ts'
import type { CollectionRef } from '../use-data-location.ts'
import { type SelectionOutcome, undoChanges } from './change-selected.ts'
import { describeOutcome } from './describe-outcome.ts'

const preventUnload = (event: BeforeUnloadEvent) => event.preventDefault()

/** Shows the outcome of a change of documents with Undo, and reloads the collection. */
export function settleChange(
  queryClient: QueryClient,
  collectionRef: CollectionRef,
  outcome: SelectionOutcome,
): void {
  queryClient.removeQueries({ queryKey: documentsOf(collectionRef) })
  reloadLists(queryClient, collectionRef)
  showToast(changeToast(queryClient, collectionRef, outcome))
}

/** Shows that a document was created or saved, and updates the queries. */
export function showStored(
  queryClient: QueryClient,
  collectionRef: CollectionRef,
  document: StoredDocument,
  change: { readonly isNew: boolean; readonly before?: StoredDocument | undefined },
): void {
  const { id } = document
  const { isNew, before } = change
  queryClient.setQueryData(documentQuery(collectionRef, id).queryKey, document)
  reloadLists(queryClient, collectionRef)
  const canUndo = isNew || before !== undefined
  const changes = canUndo ? [{ id, before, after: document }] : []
  const outcome = { verb: isNew ? 'created' : 'changed', changes, failures: [], gone: 0 } as const
  showToast({
    ...changeToast(queryClient, collectionRef, outcome),
    text: `Document ${id} ${isNew ? 'created' : 'saved'}`,
    name: id,
  })
}

/**
 * Returns the toast of a change of documents.
 *
 * @param undoable the changes that Undo reverts.
 */
export function changeToast(
  queryClient: QueryClient,
  collectionRef: CollectionRef,
  outcome: SelectionOutcome,
  undoable = outcome.changes,
): ToastOptions {
  const undo = async (): Promise<ToastOptions> => {
    // Not `useBlocker`: the undo continues on other pages.
    window.addEventListener('beforeunload', preventUnload)
    try {
      const undone = await undoChanges(collectionRef, undoable)
      // An open document is read again.
      queryClient.removeQueries({ queryKey: documentsOf(collectionRef), type: 'inactive' })
      void queryClient.invalidateQueries({ queryKey: documentsOf(collectionRef) })
      reloadLists(queryClient, collectionRef)
      const failed = new Set(undone.failures.map(({ id }) => id))
      const left = undoable.filter(({ id }) => failed.has(id))
      const toast = changeToast(queryClient, collectionRef, undone, left)
      return { ...toast, undoLabel: 'Undo again' }
    } finally {
      window.removeEventListener('beforeunload', preventUnload)
    }
  }
  return {
    text: describeOutcome(outcome),
    failures: outcome.failures.map(({ id, reason }) => ({ name: id, reason })),
    ...(undoable.length > 0 && { undo }),
  }
}

const documentsOf = (collectionRef: CollectionRef) => [...documentsKey(collectionRef), 'one']

function reloadLists(queryClient: QueryClient, collectionRef: CollectionRef): void {
  const lists = [listKey(collectionRef), collectionsQuery(collectionRef.database).queryKey]
  for (const queryKey of lists) void queryClient.invalidateQueries({ queryKey })
}
