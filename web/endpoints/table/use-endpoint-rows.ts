import { useQuery } from '@tanstack/react-query'
import { useEffect, useMemo, useRef, useState } from 'react'
import { type EndpointRow, joinRows } from './endpoint-rows.ts'
import { createLiveFigures } from './live-figures.ts'
import { endpointsQuery, listenersQuery } from './queries.ts'

/**
 * The rows of the table, live, and beside them the figures of those in sight; `rows` is undefined
 * while or because they are not loaded.
 */
export function useEndpointRows() {
  const endpoints = useQuery(endpointsQuery)
  const listeners = useQuery(listenersQuery)
  const [figures] = useState(createLiveFigures)
  const known = useRef<ReadonlyMap<string, EndpointRow>>(new Map())
  const rows = useMemo(
    // Without what runs every state would read "Unknown" for a moment: wait for both, or a failure.
    () =>
      listeners.isPending
        ? undefined
        : endpoints.data && joinRows(endpoints.data, listeners.data ?? [], known.current),
    [endpoints.data, listeners.data, listeners.isPending],
  )
  useEffect(() => {
    figures.follow(rows ?? [], known.current)
    known.current = new Map(rows?.map((row) => [row.id, row]))
  }, [rows, figures])
  return {
    rows,
    figures,
    /** When what is shown was read last, ms since 1970. */
    readAt: Math.max(endpoints.dataUpdatedAt, listeners.dataUpdatedAt),
    /** Why the endpoints could not be loaded at all. */
    failure: endpoints.data === undefined ? endpoints.error : null,
    /** Why nothing is known of what runs, although the endpoints are. */
    stateFailure: listeners.data === undefined ? listeners.error : null,
    retry: () => {
      void endpoints.refetch()
      void listeners.refetch()
    },
    /** Reads the figures of all rows anew: for an order by them. */
    readFigures: listeners.refetch,
  }
}
