import { useQuery } from '@tanstack/react-query'
import { useEffect, useMemo, useRef, useState } from 'react'
import { endpointsQuery, policiesQuery } from '../../api/queries.ts'
import { useHasRole } from '../../api/session/person.ts'
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
  const mayReadPolicies = useHasRole('operator')
  const policies = useQuery({ ...policiesQuery, enabled: mayReadPolicies })
  const records = mayReadPolicies ? policies.data : undefined
  const [figures] = useState(createLiveFigures)
  const latest = useRef<ReadonlyMap<string, EndpointRow>>(new Map())
  const rows = useMemo(
    // Wait for the listeners and the policies, or their failure; otherwise every state would briefly
    // read "Unknown", and rows would change.
    () =>
      listeners.isPending || policies.isLoading
        ? undefined
        : endpoints.data && joinRows(endpoints.data, listeners.data ?? [], latest.current, records),
    [endpoints.data, listeners.data, listeners.isPending, records, policies.isLoading],
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
    /** The error if the listeners or the policies could not be loaded. */
    stateFailure:
      (listeners.data === undefined ? listeners.error : null) ??
      (mayReadPolicies && records === undefined ? policies.error : null),
    retry: () => {
      void endpoints.refetch()
      void listeners.refetch()
      if (mayReadPolicies) void policies.refetch()
    },
    /** Refetches the figures of all rows, to sort by them. */
    readFigures: listeners.refetch,
  }
}
