import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useEffect, useMemo, useRef, useState } from 'react'
import type { EndpointRow } from './endpoint-rows.ts'
import type { LiveFigures } from './live-figures.ts'
import { putRight } from './put-right.ts'
import { figuresQuery, listenersQuery } from './queries.ts'

/** What is in sight is asked for once scrolling has rested this long, in milliseconds. */
const REST_MS = 150

/** Reads the figures of the rows in sight every few seconds, with their past where `recent`. */
export function useFiguresInSight(
  inSight: readonly EndpointRow[],
  { figures, recent }: { readonly figures: LiveFigures; readonly recent: boolean },
) {
  const queryClient = useQueryClient()
  const [rows, setRows] = useState<readonly EndpointRow[]>([])
  // What is in sight is known by its ends, though the array is another each time.
  const sight = useRef(inSight)
  if (!isSameSight(sight.current, inSight)) sight.current = inSight
  const seen = sight.current
  useEffect(() => {
    const timer = setTimeout(() => setRows(seen), REST_MS)
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
    // Once, when it comes: later, with other rows, it would be older than what events have told.
    if ((queryClient.getQueryState(queryKey)?.dataUpdatedAt ?? 0) > dataUpdatedAt) return
    queryClient.setQueryData(queryKey, (now) => now && putRight(now, addresses, data))
  }, [data, dataUpdatedAt, addresses, queryClient])
  return { readAt: dataUpdatedAt }
}

const isSameSight = (a: readonly EndpointRow[], b: readonly EndpointRow[]) =>
  a.length === b.length && a[0] === b[0] && a.at(-1) === b.at(-1)
