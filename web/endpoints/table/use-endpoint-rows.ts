import { useQuery } from '@tanstack/react-query'
import { useEffect, useMemo, useRef, useState } from 'react'
import { endpointsQuery } from '../../api/queries.ts'
import { type EndpointRow, joinRows } from '../model/endpoint-rows.ts'
import { createLiveFigures } from '../model/live-figures.ts'
import { listenersQuery } from '../queries.ts'

/**
 * Returns the live rows of the table, and the figures of the visible ones. `rows` is undefined
 * while loading and after a failure.
 */
export function useEndpointRows() {
  const endpoints = useQuery(endpointsQuery)
  const listeners = useQuery(listenersQuery)
  const [figures] = useState(createLiveFigures)
  const latest = useRef<ReadonlyMap<string, EndpointRow>>(new Map())
  const rows = useMemo(
    // Wait for the listeners, or their failure; otherwise every state would briefly read "Unknown".
    () =>
      listeners.isPending
        ? undefined
        : endpoints.data && joinRows(endpoints.data, listeners.data ?? [], latest.current),
    [endpoints.data, listeners.data, listeners.isPending],
  )
  useEffect(() => {
    figures.follow(rows ?? [], latest.current)
    latest.current = new Map(rows?.map((row) => [row.id, row]))
  }, [rows, figures])
  return {
    rows,
    figures,
    /** Time of the last read, ms since 1970. */
    readAt: Math.max(endpoints.dataUpdatedAt, listeners.dataUpdatedAt),
    /** The error if the endpoints could not be loaded. */
    failure: endpoints.data === undefined ? endpoints.error : null,
    /** The error if the listeners could not be loaded. */
    stateFailure: listeners.data === undefined ? listeners.error : null,
    retry: () => {
      void endpoints.refetch()
      void listeners.refetch()
    },
    /** Refetches the figures of all rows, to sort by them. */
    readFigures: listeners.refetch,
  }
}
