import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useEffect, useMemo, useState } from 'react'
import { useLatest } from '../../ui/use-latest.ts'
import type { EndpointRow } from '../model/endpoint-rows.ts'
import type { LiveFigures } from '../model/live-figures.ts'
import { reconcile } from '../model/reconcile.ts'
import { figuresQuery, listenersQuery } from '../queries.ts'
import { roundScale } from './cells/rate-line.tsx'

/** Delay after scrolling before the visible rows are read, ms. */
const DEBOUNCE_MS = 150

/** Maximum number of rows whose figures are read. A large screen shows 60. */
const MAX_ROWS = 100

/**
 * Polls the figures of the visible rows, with their recent rates if `recent`. Returns the maximum of
 * the scale of their sparklines.
 */
export function useVisibleFigures(
  visible: readonly EndpointRow[],
  { figures, recent }: { readonly figures: LiveFigures; readonly recent: boolean },
): number {
  const queryClient = useQueryClient()
  const [rows, setRows] = useState<readonly EndpointRow[]>([])
  const [scale, setScale] = useState(1)
  const latest = useLatest(visible)
  // biome-ignore lint/correctness/useExhaustiveDependencies: each render has a new array
  useEffect(() => {
    const timer = setTimeout(() => setRows(latest.current.slice(0, MAX_ROWS)), DEBOUNCE_MS)
    return () => clearTimeout(timer)
  }, [visible.length, visible[0], visible.at(-1)])
  const addresses = useMemo(() => [...new Set(rows.map(({ address }) => address))], [rows])
  const { data, dataUpdatedAt } = useQuery(figuresQuery(addresses, recent))
  useEffect(() => {
    if (data === undefined) return
    figures.take(rows, data)
    const rates = rows.flatMap(({ id }) => figures.get(id)?.recent ?? [])
    setScale(roundScale(Math.max(...rates.map((rate) => rate ?? 0), 0)))
  }, [data, rows, figures])
  useEffect(() => {
    if (data === undefined) return
    const { queryKey } = listenersQuery
    // Apply a read only once: after newer events or for other rows it would be out of date.
    if ((queryClient.getQueryState(queryKey)?.dataUpdatedAt ?? 0) > dataUpdatedAt) return
    queryClient.setQueryData(queryKey, (now) => now && reconcile(now, addresses, data))
  }, [data, dataUpdatedAt, addresses, queryClient])
  return scale
}
