import type { QueryClient } from '@tanstack/react-query'
import { collectionsQuery } from '../../app/queries.ts'
import { announce } from '../../shared/ui/feedback/announce.tsx'
import { documentsKey, listKey } from '../queries.ts'
import type { CollectionRef } from '../use-documents-location.ts'
import type { SelectionOutcome } from './change-selected.ts'
import { describeOutcome } from './describe-outcome.ts'

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
