import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { ApiFailure } from '../api/client.ts'
import { databasesQuery } from '../api/queries.ts'
import { LoadFailure } from '../ui/feedback/load-failure.tsx'
import { Notice } from '../ui/feedback/notice.tsx'
import { QueryResult, type QueryResultProps } from '../ui/feedback/query-result.tsx'
import { capitalize } from '../ui/text/capitalize.ts'

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

interface ReadFailureProps {
  readonly what: string
  readonly database: string
  readonly error: Error
  readonly onRetry: () => void
}

/**
 * Reports that data of a database failed to load. Offers no retry if the database does not exist, or
 * the name of the collection is invalid.
 */
export function ReadFailure({ what, database, error, onRetry }: ReadFailureProps) {
  const { data: databases = [] } = useQuery(databasesQuery)
  if (!(error instanceof ApiFailure && error.status === 404)) {
    return <LoadFailure what={what} error={error} onRetry={onRetry} />
  }
  if (error.id === 'not_found') {
    const to = { to: '/data/$database', params: { database } } as const
    return (
      <Notice failed action={<Link {...to}>Choose another collection</Link>}>
        {error.message}
      </Notice>
    )
  }
  return (
    <Notice failed action={<Link to="/data">Choose another database</Link>}>
      {databases.includes(database)
        ? `${what} cannot be shown. The endpoint that you are connected through does not serve ${database}.`
        : `There is no database ${database}. It may have been dropped.`}
    </Notice>
  )
}
