import { useQuery } from '@tanstack/react-query'
import { useCallback, useEffect, useMemo, useState } from 'react'
import type { EndpointRecord } from '../../../server/contract/endpoints/endpoint.ts'
import type { ListenerStatus } from '../../../server/contract/endpoints/listener.ts'
import { endpointsQuery } from '../../api/queries.ts'
import { figuresQuery, listenersQuery } from '../queries.ts'

/** The endpoint shown in the panel. */
export interface PanelEndpoint {
  readonly address: string
  /** The current or last known mapping; null if removed before the panel opened. */
  readonly mapping: readonly string[] | null
  /** Its listeners on all nodes; after a removal, those that are draining. */
  readonly listeners: readonly ListenerStatus[]
  /** The latest figures. After a removal, those of the last listeners. */
  readonly figures: readonly ListenerStatus[]
  /** When its removal was noticed, ms since 1970; undefined while it exists. */
  readonly goneAt: number | undefined
}

/**
 * Returns the live state of an endpoint. The last known state stays after a removal. `endpoint` is
 * undefined while loading, and null if it does not exist.
 */
export function usePanelEndpoint(address: string) {
  const endpoints = useQuery({
    ...endpointsQuery,
    select: useCallback(
      (list: EndpointRecord[]) => list.find(({ endpoint }) => endpoint === address) ?? null,
      [address],
    ),
  })
  const states = useQuery({
    ...listenersQuery,
    select: useCallback(
      (list: ListenerStatus[]) => list.filter(({ endpoint }) => endpoint === address),
      [address],
    ),
  })
  const figures = useQuery(figuresQuery([address], false))
  const [latest, setLatest] = useState<PanelEndpoint>()
  const record = endpoints.data
  const [now, counted] = [states.data, figures.data]
  const listeners = useMemo(
    () => now?.map((listener) => withFigures(listener, counted)),
    [now, counted],
  )
  const existing = useMemo((): PanelEndpoint | undefined => {
    if (record == null || listeners === undefined) return undefined
    const mapping = record.databases
    return { address, mapping, listeners, figures: listeners, goneAt: undefined }
  }, [address, record, listeners])
  useEffect(() => {
    if (record === undefined || listeners === undefined) return
    setLatest((last) => {
      if (existing !== undefined) return existing
      const before = last?.address === address ? last : undefined
      if (before !== undefined) {
        const latestFigures = listeners.length > 0 ? listeners : before.figures
        const goneAt = before.goneAt ?? Date.now()
        return { ...before, listeners, figures: latestFigures, goneAt }
      }
      // The endpoint was removed before the panel opened: its listeners are draining and its
      // mapping is unknown.
      const [first] = listeners
      if (first === undefined) return undefined
      const goneAt = Date.parse(first.since)
      return { address, mapping: null, listeners, figures: listeners, goneAt }
    })
  }, [address, record, listeners, existing])
  const none = record === null && now?.length === 0
  return {
    endpoint: existing ?? (latest?.address === address ? latest : none ? null : undefined),
    failure: record === undefined ? endpoints.error : now === undefined ? states.error : null,
    retry: () => {
      void endpoints.refetch()
      void states.refetch()
    },
  }
}

/** Adds polled figures to a listener. Figures that belong to an older state are ignored. */
function withFigures(
  listener: ListenerStatus,
  counted: readonly ListenerStatus[] | undefined,
): ListenerStatus {
  const same = counted?.find(
    ({ node, state }) => node === listener.node && state === listener.state,
  )
  if (same === undefined) return listener
  const { connections, requests, requestsPerSecond, bytesIn, bytesOut, lastRequest } = same
  return {
    ...listener,
    connections,
    requests,
    requestsPerSecond,
    bytesIn,
    bytesOut,
    lastRequest,
  }
}
