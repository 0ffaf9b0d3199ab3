import { useQuery } from '@tanstack/react-query'
import { useCallback, useEffect, useState } from 'react'
import type { EndpointRecord } from '../../../server/contract/endpoint.ts'
import type { ListenerStatus } from '../../../server/contract/listener.ts'
import { endpointsQuery, figuresQuery, listenersQuery } from '../queries.ts'

/** What the panel knows of its endpoint. */
export interface PanelEndpoint {
  readonly address: string
  /** As it is mapped, or was last; null: removed before the panel was opened. */
  readonly mapping: readonly string[] | null
  /** What runs of it on each node; of one that is gone, what still drains. */
  readonly listeners: readonly ListenerStatus[]
  /** The figures, those of the last time that anything ran. */
  readonly figures: readonly ListenerStatus[]
  /** When it was found to be there no longer, ms since 1970; undefined: it is there. */
  readonly goneAt: number | undefined
}

/**
 * The endpoint of an address, live; what was last known of it stays when it is removed meanwhile.
 * `endpoint` is undefined while it is loaded, and null where there is none.
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
  const [known, setKnown] = useState<PanelEndpoint>()
  const record = endpoints.data
  const [now, counted] = [states.data, figures.data]
  useEffect(() => {
    if (record === undefined || now === undefined) return
    const listeners = now.map((listener) => withFigures(listener, counted))
    setKnown((before) => {
      if (record !== null) {
        const mapping = record.databases
        return { address, mapping, listeners, figures: listeners, goneAt: undefined }
      }
      if (before !== undefined) {
        const last = listeners.length > 0 ? listeners : before.figures
        const goneAt = before.goneAt ?? Date.now()
        return { ...before, listeners, figures: last, goneAt }
      }
      // Come late: of a removed one there is what drains, but not what its mapping was.
      const [first] = listeners
      if (first === undefined) return undefined
      const goneAt = Date.parse(first.since)
      return { address, mapping: null, listeners, figures: listeners, goneAt }
    })
  }, [address, record, now, counted])
  const none = record === null && now?.length === 0
  return {
    endpoint: known ?? (none ? null : undefined),
    failure: record === undefined ? endpoints.error : now === undefined ? states.error : null,
    retry: () => {
      void endpoints.refetch()
      void states.refetch()
    },
  }
}

/** States come by events, figures every few seconds: an older reading of the latter changes none. */
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
