import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useEffect, useMemo, useRef, useState } from 'react'
import type { EndpointRow } from '../model/endpoint-rows.ts'
import type { LiveFigures } from '../model/live-figures.ts'
import { reconcile } from '../model/reconcile.ts'
import { figuresQuery, listenersQuery } from '../queries.ts'

/** Delay after scrolling before the visible rows are read, ms. */
const DEBOUNCE_MS = 150

/** Maximum number of rows whose figures are read. A large screen shows 60. */
const MAX_ROWS = 100

/** Polls the figures of the visible rows, with their recent rates if `recent`. */
export function useVisibleFigures(
  visible: readonly EndpointRow[],
  { figures, recent }: { readonly figures: LiveFigures; readonly recent: boolean },
) {
  const queryClient = useQueryClient()
  const [rows, setRows] = useState<readonly EndpointRow[]>([])
  // The array changes on each render; compare its length and ends instead.
  const sight = useRef(visible)
  if (!isSameRange(sight.current, visible)) sight.current = visible
  const seen = sight.current
  useEffect(() => {
    const timer = setTimeout(() => setRows(seen.slice(0, MAX_ROWS)), DEBOUNCE_MS)
    return () => clearTimeout(timer)
  }, [seen])
  const addresses = useMemo(() => [...new Set(rows.map(({ address }) => address))], [rows])
  const { data, dataUpdatedAt } = useQuery(figuresQuery(addresses, recent))
  useEffect(() => {
    if (data === undefined) return
    figures.take(rows, data)
  }, [data, rows, figures])
  useEffect(() => {
    if (data === undefined) return
    const { queryKey } = listenersQuery
    // Apply a read only once: after newer events or for other rows it would be out of date.
    if ((queryClient.getQueryState(queryKey)?.dataUpdatedAt ?? 0) > dataUpdatedAt) return
    queryClient.setQueryData(queryKey, (now) => now && reconcile(now, addresses, data))
  }, [data, dataUpdatedAt, addresses, queryClient])
  return { readAt: dataUpdatedAt }
}

const isSameRange = (a: readonly EndpointRow[], b: readonly EndpointRow[]) =>
  a.length === b.length && a[0] === b[0] && a.at(-1) === b.at(-1)
