import { useQueryClient } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import type { RequestBatch } from '../../server/contract/endpoints/request.ts'
import { API_BASE } from '../api/client.ts'
import type { LiveConnection } from '../api/live/live-connection.ts'
import { isSignedIn, useConnectionOf } from '../api/live/live-provider.tsx'
import { openPageConnection } from '../api/live/page-connection.ts'
import { usePresence } from '../api/session/person.ts'
import { addBatch, type Tail } from './tail.ts'

const EMPTY: Tail = { requests: [], leftOut: 0 }

/**
 * Follows the requests that a query selects while the component is shown and the page is visible.
 * `tail` is undefined until the first ones arrive. After a gap and for another query, the stream
 * sends the last requests again, which replace the others.
 */
export function useRequestStream(query: string) {
  const queryClient = useQueryClient()
  const signedIn = usePresence().end === undefined
  const [tail, setTail] = useState<Tail>()
  const [live, setLive] = useState<LiveConnection>()
  useEffect(() => {
    if (!signedIn) return
    let replaces = true
    const opened = openPageConnection<RequestBatch>({
      url: `${API_BASE}/_api/request?${query}`,
      after: undefined,
      onEvent: (event) => {
        if ('type' in event) {
          replaces = true
          return
        }
        const isFirst = replaces
        replaces = false
        setTail((now = EMPTY) => addBatch(isFirst ? EMPTY : now, event))
      },
      mayConnect: isSignedIn(queryClient),
    })
    setLive(opened)
    return () => {
      opened.close()
      setLive(undefined)
    }
  }, [queryClient, signedIn, query])
  return { tail, connection: useConnectionOf(live) }
}
