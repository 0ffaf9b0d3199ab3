import type { ReactNode } from 'react'
import { QueryResult, type QueryResultProps } from '../ui/feedback/query-result.tsx'
import { capitalize } from '../ui/text/capitalize.ts'
import { ReadFailure } from './read-failure.tsx'

export interface ReadResultProps<T> extends Pick<QueryResultProps<T>, 'query' | 'what'> {
  readonly database: string
  readonly children: (data: T) => ReactNode
}

/** Renders the data of a query on a database, or why it failed to load. */
export function ReadResult<T>({ query, what, database, children }: ReadResultProps<T>) {
  return (
    <QueryResult
      query={query}
      what={what}
      failed={(error) => (
        <ReadFailure
          what={capitalize(what)}
          database={database}
          error={error}
          onRetry={query.refetch}
        />
      )}
    >
      {children}
    </QueryResult>
  )
}
