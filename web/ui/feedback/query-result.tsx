import type { UseQueryResult } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { capitalize } from '../text/capitalize.ts'
import { LoadFailure } from './load-failure.tsx'
import { SkeletonRows } from './skeleton-rows.tsx'

export interface QueryResultProps<T> {
  readonly query: Pick<UseQueryResult<T>, 'data' | 'error' | 'refetch'>
  /** What is loaded, such as "the tokens". */
  readonly what: string
  /** Renders a failure. Default: the error with a button that tries again. */
  readonly failed?: (error: Error) => ReactNode
  readonly children: (data: T) => ReactNode
}

/**
 * Renders the data of a query, even if it is out of date; until then a skeleton, or the failure.
 */
export function QueryResult<T>({ query, what, failed, children }: QueryResultProps<T>) {
  const { data, error, refetch } = query
  if (data !== undefined) return children(data)
  if (error === null) return <SkeletonRows what={what} />
  if (failed !== undefined) return failed(error)
  return <LoadFailure what={capitalize(what)} error={error} onRetry={refetch} />
}
