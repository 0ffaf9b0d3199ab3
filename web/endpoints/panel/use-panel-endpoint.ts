import { useQuery } from '@tanstack/react-query'
import { useCallback, useEffect, useState } from 'react'
import type { EndpointRecord } from '../../../server/contract/endpoint.ts'
import type { ListenerStatus } from '../../../server/contract/listener.ts'
import { endpointsQuery, figuresQuery, listenersQuery } from '../queries.ts'

/** What the panel knows of its endpoint. */
export interface PanelEndpoint {
  /** As it is configured, or was last. */
  readonly record: EndpointRecord
  /** What runs of it on each node, or did last. */
  readonly listeners: readonly ListenerStatus[]
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
  const all = useQuery({
    ...listenersQuery,
    select: useCallback(
      (list: ListenerStatus[]) => list.filter(({ endpoint }) => endpoint === address),
      [address],
    ),
  })
  const own = useQuery(figuresQuery([address], false))
  const newest = own.dataUpdatedAt > all.dataUpdatedAt ? own.data : all.data
  const record = endpoints.data
  const [known, setKnown] = useState<PanelEndpoint>()
  useEffect(() => {
    setKnown((before) => {
      if (record) return { record, listeners: newest ?? [], goneAt: undefined }
      if (record === undefined || before === undefined) return before
      // What drains is still there to be looked at; after it, its last state.
      const left = newest === undefined || newest.length === 0 ? before.listeners : newest
      return { ...before, listeners: left, goneAt: before.goneAt ?? Date.now() }
    })
  }, [record, newest])
  // What drains is left of an endpoint that is no longer configured: also when one comes late.
  const left = record === null && known === undefined && newest?.find(isDraining)
  const late = left && {
    record: { endpoint: address, databases: [] },
    listeners: newest ?? [],
    goneAt: Date.parse(left.since),
  }
  return {
    endpoint: known ?? (late || (record === null && !all.isPending ? null : undefined)),
    failure: endpoints.data === undefined ? endpoints.error : null,
    retry: () => void endpoints.refetch(),
  }
}

const isDraining = ({ state }: ListenerStatus) => state === 'draining'
