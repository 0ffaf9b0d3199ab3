import { queryOptions } from '@tanstack/react-query'
import { readSelected, type SelectionOutcome } from '../mutations/change-selected.ts'
import { documentsKey } from '../queries.ts'
import type { CollectionRef } from '../use-data-location.ts'
import type { DocumentSelection } from './use-selected-ids.ts'

/** Props of the dialogs that change the selected documents. */
export interface SelectionDialogProps {
  readonly collectionRef: CollectionRef
  readonly selection: DocumentSelection
  readonly onClose: () => void
  /** Called after documents were changed one by one; undefined if none was left to change. */
  readonly onDone: (outcome: SelectionOutcome | undefined) => void
}

/** The current versions of the selected documents, which a change requires. */
export const selectedQuery = (collectionRef: CollectionRef, ids: ReadonlySet<string>) =>
  queryOptions({
    queryKey: [...documentsKey(collectionRef), 'selected', [...ids]],
    queryFn: ({ signal }) => readSelected(collectionRef, [...ids], signal),
    staleTime: 0,
    gcTime: 0,
  })
