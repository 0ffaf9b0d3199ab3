import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useEffect, useMemo, useRef, useState } from 'react'
import type { ListenerStatus } from '../../server/contract/listener.ts'
import { mergeParts } from '../merge-parts.ts'
import { type EndpointRow, stateOf } from './endpoint-rows.ts'
import type { LiveFigures } from './live-figures.ts'
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
    // An event may have been lost on the way: what is in another state is put right. How many a
    // draining one has left is told beside its state, and no event tells it.
    const saidOf = (one: ListenerStatus) =>
      one.state === 'draining' ? `${stateOf(one)} ${one.connections}` : stateOf(one)
    const statesOf = (address: string, listeners: readonly ListenerStatus[]) =>
      `${listeners.flatMap((one) => (one.endpoint === address ? saidOf(one) : [])).toSorted()}`
    queryClient.setQueryData(listenersQuery.queryKey, (now) => {
      if (now === undefined) return now
      const wanted = new Set(addresses)
      const known = now.filter(({ endpoint }) => wanted.has(endpoint))
      const other = addresses.filter((each) => statesOf(each, known) !== statesOf(each, data))
      return other.length === 0 ? now : mergeParts(now, other, data)
    })
  }, [data, rows, addresses, figures, queryClient])
  return { readAt: dataUpdatedAt }
}

const isSameSight = (a: readonly EndpointRow[], b: readonly EndpointRow[]) =>
  a.length === b.length && a[0] === b[0] && a.at(-1) === b.at(-1)
