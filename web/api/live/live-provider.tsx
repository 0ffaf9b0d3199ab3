import { type QueryClient, useQueryClient } from '@tanstack/react-query'
import {
  createContext,
  type PropsWithChildren,
  useContext,
  useEffect,
  useState,
  useSyncExternalStore,
} from 'react'
import { API_BASE } from '../client.ts'
import { lastEventId, sessionQuery } from '../queries.ts'
import { usePresence } from '../session/person.ts'
import { invalidateSoon } from './invalidate-soon.ts'
import type { Connection, LiveConnection } from './live-connection.ts'
import { openPageConnection } from './page-connection.ts'

const LiveContext = createContext<LiveConnection | undefined>(undefined)

/**
 * Opens the page's stream of live events while a person is signed in, and invalidates queries on
 * each event.
 */
export function LiveProvider({ children }: PropsWithChildren) {
  const queryClient = useQueryClient()
  const signedIn = usePresence().end === undefined
  const [live, setLive] = useState<LiveConnection>()
  useEffect(() => {
    if (!signedIn) return
    const invalidation = invalidateSoon(queryClient)
    const opened = openPageConnection({
      url: `${API_BASE}/_api/events`,
      after: lastEventId(),
      onEvent: invalidation.note,
      mayConnect: isSignedIn(queryClient),
    })
    setLive(opened)
    return () => {
      opened.close()
      setLive(undefined)
      invalidation.stop()
    }
  }, [queryClient, signedIn])
  return <LiveContext value={live}>{children}</LiveContext>
}

/** Returns a check whether the person is still signed in, before a stream is reopened. */
export const isSignedIn = (queryClient: QueryClient) => async (signal: AbortSignal) => {
  // The next check must not wait for the request of one that hangs.
  signal.onabort = () => queryClient.cancelQueries({ queryKey: sessionQuery.queryKey })
  try {
    const query = { ...sessionQuery, staleTime: 0, retry: false }
    return (await queryClient.fetchQuery(query)) !== null
  } finally {
    signal.onabort = null
  }
}

const connecting: Connection = { state: 'connecting' }
const never = () => () => {}

/** Returns the state of the stream of live events, and a function that retries immediately. */
export const useConnection = () => useConnectionOf(useContext(LiveContext))

/** Returns the state of a stream, and a function that retries immediately. */
export function useConnectionOf(
  live: LiveConnection | undefined,
): Connection & { tryNow: () => void } {
  const connection = useSyncExternalStore(
    live?.subscribe ?? never,
    live?.current ?? (() => connecting),
  )
  return { ...connection, tryNow: () => live?.tryNow() }
}
