import { useQuery } from '@tanstack/react-query'
import { useEffect, useMemo, useRef } from 'react'
import { type EndpointRow, joinRows } from './endpoint-rows.ts'
import { endpointsQuery, listenersQuery } from './queries.ts'

/** The rows of the table, live; `rows` is undefined while or because they are not loaded. */
export function useEndpointRows() {
  const endpoints = useQuery(endpointsQuery)
  const listeners = useQuery(listenersQuery)
  const known = useRef<ReadonlyMap<string, EndpointRow>>(new Map())
  const rows = useMemo(
    () => endpoints.data && joinRows(endpoints.data, listeners.data ?? [], known.current),
    [endpoints.data, listeners.data],
  )
  useEffect(() => {
    known.current = new Map(rows?.map((row) => [row.id, row]))
  }, [rows])
  return {
    // Without what runs every state would read "Unknown" for a moment: wait for both, or a failure.
    rows: listeners.isPending ? undefined : rows,
    /** Why the endpoints could not be loaded at all. */
    failure: endpoints.data === undefined ? endpoints.error : null,
    /** Why nothing is known of what runs, although the endpoints are. */
    stateFailure: listeners.data === undefined ? listeners.error : null,
    retry: () => {
      void endpoints.refetch()
      void listeners.refetch()
    },
  }
}
