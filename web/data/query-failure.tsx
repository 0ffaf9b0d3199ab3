import { ApiFailure } from '../api/client.ts'
import { NoMatch } from '../ui/feedback/no-match.tsx'
import { Notice } from '../ui/feedback/notice.tsx'
import { Advice } from './indexes/plan-line.tsx'
import { conditionsOf } from './model/conditions.ts'
import { ReadFailure } from './read-result.tsx'
import { type CollectionRef, useDataLocation } from './use-data-location.ts'

export interface QueryFailureProps {
  readonly collectionRef: CollectionRef
  readonly error: Error
  readonly onRetry: () => void
}

/** Reports why documents could not be listed, with what helps: an index, or another query. */
export function QueryFailure({ collectionRef, error, onRetry }: QueryFailureProps) {
  const { search, query, page } = useDataLocation()
  if (error instanceof ApiFailure && error.id === 'query_too_expensive') {
    return (
      <Notice failed action={<Advice collectionRef={collectionRef} error={error} />}>
        {error.message}
      </Notice>
    )
  }
  if (error instanceof ApiFailure && error.status === 400) {
    // The filter bar shows the message at the filter.
    if (conditionsOf(search.filter).some(({ name }) => name === error.field)) {
      return <Notice>Change or remove the filter that the server rejected.</Notice>
    }
    if (error.field === 'cursor') {
      return (
        <NoMatch clear="Go to the first page" onClear={() => page({})}>
          This page belongs to a different filter or sort order.
        </NoMatch>
      )
    }
    return (
      <NoMatch clear="Clear filters and sorting" onClear={() => query({ filter: '', sort: '' })}>
        {error.message}
      </NoMatch>
    )
  }
  return (
    <ReadFailure
      what={`The documents of ${collectionRef.collection}`}
      database={collectionRef.database}
      error={error}
      onRetry={onRetry}
    />
  )
}
