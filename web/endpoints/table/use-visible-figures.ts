import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useEffect, useMemo, useState } from 'react'
import type { ListenerStatus } from '../../../server/contract/endpoints/listener.ts'
import { stateOf } from '../../../server/contract/endpoints/listener-state.ts'
import { mergeEntries } from '../../api/merge-entries.ts'
import { useLatest } from '../../ui/use-latest.ts'
import type { EndpointRow } from '../model/endpoint-rows.ts'
import type { LiveFigures } from '../model/live-figures.ts'
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

/**
 * Returns the known listeners, corrected by a newer read of some addresses. Live events may have
 * been lost, so listeners in another state are replaced. A read that is older than the known state
 * is ignored. Returns `known` itself if nothing changes.
 */
export function reconcile(
  known: ListenerStatus[],
  addresses: readonly string[],
  read: readonly ListenerStatus[],
): ListenerStatus[] {
  const wanted = new Set(addresses)
  const before = Map.groupBy(
    known.filter(({ endpoint }) => wanted.has(endpoint)),
    ({ endpoint }) => endpoint,
  )
  const now = Map.groupBy(read, ({ endpoint }) => endpoint)
  const wrong = addresses.filter((address) => {
    const [was = [], is = []] = [before.get(address), now.get(address)]
    return statesOf(was) !== statesOf(is) && !isOlder(is, was)
  })
  return wrong.length === 0 ? known : mergeEntries(known, wrong, read)
}

const statesOf = (listeners: readonly ListenerStatus[]): string =>
  `${listeners.map(fingerprint).toSorted()}`

/** The remaining connections of a draining listener are shown, but no event reports them. */
const fingerprint = (one: ListenerStatus): string =>
  one.state === 'draining' ? `${stateOf(one)} ${one.connections}` : stateOf(one)

/** Returns whether a node changed its state after the read, by that node's clock. */
const isOlder = (read: readonly ListenerStatus[], known: readonly ListenerStatus[]): boolean =>
  known.some(({ node, since }) => {
    const same = read.filter((each) => each.node === node)
    return same.length > 0 && same.every((each) => Date.parse(each.since) < Date.parse(since))
  })
